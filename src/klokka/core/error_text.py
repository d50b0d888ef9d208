"""Failures as text that every store can keep [transition.error].

Exceptions bring NULs, lone surrogates, tracebacks of megabytes and a `str()` that raises. None of it may keep a job
from being failed, so it is made storable here, in one place, before any store sees it.
"""

import re
from collections import deque
from collections.abc import Iterable
from dataclasses import replace
from traceback import TracebackException
from typing import Final

from klokka.core.instants import aware
from klokka.core.records import JobError

TYPE_BYTES: Final = 512
MESSAGE_BYTES: Final = 8 * 1024
TRACEBACK_BYTES: Final = 64 * 1024

_UNSTORABLE: Final = re.compile("[\0\ud800-\udfff]")
_MARK_BYTES: Final = 64
_FRAMES: Final = 100


def describe(exception: BaseException) -> JobError:
    """What is known of `exception`, as a value that every store can keep; never raises for any `Exception` within.

    Type, message and traceback with causes, notes and the members of groups. Long ones keep head and tail.
    """
    return storable(
        JobError(
            type=_name(type(exception)),
            message=_message(exception),
            traceback=_traceback(exception),
        )
    )


def storable(error: JobError) -> JobError:
    """`error` with texts that every store can keep: nothing unstorable, at most the bytes stated above, marked cuts.

    Applied twice it changes nothing more. Attempt and time are not filled in here.

    Raises:
        InvalidTime: `at` is naive [time.aware].
    """
    return replace(
        error,
        type=_cut(_clean(error.type), TYPE_BYTES),
        message=_cut(_clean(error.message), MESSAGE_BYTES),
        traceback=_cut(_clean(error.traceback), TRACEBACK_BYTES),
        at=None if error.at is None else aware(error.at, "error.at"),
    )


def _clean(text: str) -> str:
    return _UNSTORABLE.sub("\N{REPLACEMENT CHARACTER}", text)


def _cut(text: str, limit: int) -> str:
    """`text` in at most `limit` bytes of UTF-8: its head and its tail, since causes stand first and failures last."""
    if len(text) * 4 <= limit or len(text.encode()) <= limit:
        return text
    half = (limit - _MARK_BYTES) // 2
    head = text[:half].encode()[:half].decode(errors="ignore")
    tail = text[-half:].encode()[-half:].decode(errors="ignore")
    return f"{head}… [{len(text) - len(head) - len(tail):,} characters cut] …{tail}"


def _name(of: type[BaseException]) -> str:
    try:
        return of.__qualname__ if of.__module__ == "builtins" else f"{of.__module__}.{of.__qualname__}"
    except Exception:  # a metaclass may raise anything
        return "Exception"


def _message(exception: BaseException) -> str:
    try:
        return str(exception)
    except Exception as error:
        return f"[no message: str() of it raised {_name(type(error))}]"


def _traceback(exception: BaseException) -> str:
    try:
        formatted = TracebackException(type(exception), exception, exception.__traceback__, limit=-_FRAMES)
        return _bounded(formatted.format())
    except Exception as error:
        return f"[no traceback: formatting it raised {_name(type(error))}]"


def _bounded(lines: Iterable[str]) -> str:
    """The lines joined, without ever holding much more than `storable` keeps of them."""
    head: list[str] = []
    tail: deque[str] = deque()
    head_size = tail_size = dropped = 0
    for line in lines:
        kept = _cut(_clean(line), TRACEBACK_BYTES)
        if head_size < TRACEBACK_BYTES:
            head.append(kept)
            head_size += len(kept)
            continue
        tail.append(kept)
        tail_size += len(kept)
        while tail_size - len(tail[0]) > TRACEBACK_BYTES:
            gone = tail.popleft()
            tail_size -= len(gone)
            dropped += len(gone)
    if dropped:
        tail.appendleft(f"… [{dropped:,} characters cut] …\n")
    return "".join([*head, *tail])
