"""What crosses between a worker and the processes of its handlers: pickled messages, each behind its length.

Both ends are one program on one machine and the wire has no name, so nobody else can write to it.
"""

import pickle
import struct
from dataclasses import dataclass
from typing import Final

from klokka.core.error_text import describe
from klokka.core.ids import JobId
from klokka.core.outcomes import Outcome
from klokka.core.records import ClaimedJob
from klokka.errors import NotRetryable, ProcessFailure

LENGTH: Final = struct.Struct("!Q")
_MAX_EXCEPTION: Final = 256 * 1024
"""Bytes of a pickled exception; a larger one is represented, so that it does not hold up the worker's loop."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """To the child: run `job`. `handler` is the pickled `decode` and `run` of its kind, None where the child has it."""

    handler: bytes | None
    job: ClaimedJob


@dataclass(frozen=True, slots=True)
class Ready:
    """From the child: it has started and takes assignments."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """From the child, at any time: threads that outlive their job may speak while the next one runs."""

    job: JobId
    value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """From the child: the handler returned."""

    outcome: Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Raised:
    """From the child: the handler raised. `exception` is None where it would not come out as it went in."""

    exception: bytes | None
    summary: str
    traceback: str
    retryable: bool


Answer = Finished | Raised
FromChild = Ready | Progress | Finished | Raised


class ChildTraceback(Exception):
    """The cause of what `revive` returns: the traceback, as text, that the exception had in its process."""


class LastingProcessFailure(ProcessFailure, NotRetryable):
    """Stands for a `NotRetryable` that could not leave its process."""


def frame(message: Assignment | FromChild) -> bytes:
    """`message` as it goes over the wire."""
    body = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    return LENGTH.pack(len(body)) + body


def represent(error: BaseException) -> Raised:
    """What the child sends of `error`; never raises for any `Exception` within."""
    told = describe(error)
    return Raised(
        exception=_pickled(error),
        summary=f"{told.type}: {told.message}",
        traceback=told.traceback,
        retryable=not isinstance(error, NotRetryable),
    )


def revive(raised: Raised) -> Exception:
    """The exception that the child raised, or a `ProcessFailure` in its place, caused by its traceback there.

    Only an `Exception` comes back as itself: a `SystemExit` or `CancelledError` of a child is none of the worker.
    """
    error = _unpickled(raised.exception)
    if error is None:
        stand_in = ProcessFailure if raised.retryable else LastingProcessFailure
        error = stand_in(f"a process handler raised what cannot leave its process: {raised.summary}")
    error.__cause__ = ChildTraceback(f"in the handler's process:\n{raised.traceback.rstrip()}")
    return error


def _pickled(error: BaseException) -> bytes | None:
    """None unless it survives the way back: many exceptions pickle and then fail in their own `__init__`."""
    try:
        pickled = pickle.dumps(error, pickle.HIGHEST_PROTOCOL)
        faithful = type(pickle.loads(pickled)) is type(error)  # noqa: S301
    except Exception:  # pickling runs the methods of others, which may raise anything
        return None
    return pickled if faithful and len(pickled) <= _MAX_EXCEPTION else None


def _unpickled(pickled: bytes | None) -> Exception | None:
    if pickled is None:
        return None
    try:
        error = pickle.loads(pickled)  # noqa: S301
    except Exception:  # what is importable there need not be here
        return None
    return error if isinstance(error, Exception) else None
