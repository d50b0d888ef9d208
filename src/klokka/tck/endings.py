"""Ends of a check that are no violation: why it came to no answer."""

import asyncio
from typing import Final

HOPELESS_AT_MOST: Final = 3
"""How many checks may end without hope before a run is given up: the next ones would end, or hang, in the same way."""


class Unfinished(Exception):
    """A check did not come to its end: the store raised where it must answer."""


class Hopeless(Unfinished):
    """The next check will most likely end in the same way."""


class Endless(Hopeless):
    """Time ran out, where every wait is bounded."""


class Blocking(Hopeless):
    """The store held up the event loop of a check."""


class Ungiven(Hopeless):
    """The factory did not give a subject, or did not end. Nothing is known of the store by that."""


class Escaped(Exception):
    """Something was raised that is no `Exception`: it would end the interpreter, and not only what is tried."""


def said(error: BaseException) -> str:
    """Its class and what it says, if it says anything."""
    return f"{type(error).__name__}: {error}".removesuffix(": ")


def because(what: str, cause: BaseException, kind: type[Unfinished] = Unfinished) -> Unfinished:
    """That `what` happened, with its cause."""
    error = kind(f"{what}: {said(cause)}")
    error.__cause__ = cause
    return error


def is_callers(error: BaseException) -> bool:
    """Whether `error` is meant for whoever runs the kit, and was not raised by what is tried."""
    task = asyncio.current_task()
    cancelled = isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling() > 0
    return cancelled or isinstance(error, KeyboardInterrupt)
