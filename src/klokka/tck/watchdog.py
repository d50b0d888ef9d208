"""Runs a check on a thread of its own, watched from outside, so that a store that blocks it is reported too."""

import asyncio
import contextlib
import sys
import threading
import time
import traceback
from collections.abc import Awaitable, Callable
from concurrent.futures import Future, wait
from datetime import timedelta
from pathlib import Path
from typing import Final, Generic, TypeVar

from klokka.tck.check import Check
from klokka.tck.endings import Blocking, Escaped, Unfinished, said
from klokka.tck.report import Failed, Result
from klokka.tck.run import BOUND, run_check
from klokka.tck.subject import Factory

T = TypeVar("T")

STALL: Final = timedelta(seconds=20)
"""How long an event loop may stand still. Waiting for a lock for a moment is slow; this is no waiting any more."""

_PHASES: Final = 5
"""Of a check, each with a bound of its own: the factory begins, the check, closing, closing again, the factory ends."""
_LOOK: Final = 0.2
_FRAMES: Final = 12
_NOT_THEIRS: Final = (
    str(Path(asyncio.__file__).parent),
    str(Path(__file__).parent),
    contextlib.__file__,
    threading.__file__,
)
"""Whose frames say nothing about the store."""


class Blocked(Exception):
    """An event loop stands still, or what it runs came to no end; the message says where its thread is."""


class Watched(Generic[T]):
    """Async work on a daemon thread with a loop of its own. A thread that never ends is left behind."""

    def __init__(self, work: Callable[[], Awaitable[T]]) -> None:
        self._outcome: Future[T] = Future()
        self._work = work
        self._thread = threading.Thread(target=self._run, daemon=True, name="tck-check")
        self._ticked = 0.0

    def result(self, within: timedelta, *, stall: timedelta = STALL) -> T:
        """The result of the work, or what it raised.

        Raises:
            Blocked: there is none after `within`, or the loop stood still for longer than `stall`.
            Escaped: the work raised what is no `Exception`.
        """
        begun = self._ticked = time.monotonic()
        self._thread.start()
        while not wait([self._outcome], _LOOK).done:
            now = time.monotonic()
            if now - self._ticked > stall.total_seconds() or now - begun > within.total_seconds():
                raise Blocked(self._where())
        return self._outcome.result()

    def _run(self) -> None:
        try:
            self._outcome.set_result(asyncio.run(self._ticking()))
        except Exception as error:
            self._outcome.set_exception(error)
        except BaseException as error:
            escaped = Escaped(said(error))
            escaped.__cause__ = error
            self._outcome.set_exception(escaped)

    async def _ticking(self) -> T:
        ticking = asyncio.create_task(self._tick())
        try:
            return await self._work()
        finally:
            ticking.cancel()

    async def _tick(self) -> None:
        while True:
            self._ticked = time.monotonic()
            await asyncio.sleep(_LOOK)

    def _where(self) -> str:
        frame = sys._current_frames().get(self._thread.ident or 0)  # noqa: SLF001 - the documented way to another thread's stack
        stack: list[traceback.FrameSummary] = [] if frame is None else traceback.extract_stack(frame)
        theirs = [place for place in stack if not place.filename.startswith(_NOT_THEIRS)] or stack
        return "".join(traceback.format_list(theirs[-_FRAMES:])).rstrip()


def watched(
    check: Check, factory: Factory, *, seed: int = 0, bound: timedelta = BOUND, stall: timedelta = STALL
) -> Result:
    """The result of `run_check` on another thread; a store that blocks its event loop has failed the check.

    What is blocked is left behind: daemon threads, which end with the process.
    """
    begun = time.monotonic()
    work = Watched(lambda: run_check(check, factory, seed=seed, bound=bound))
    error: Unfinished
    try:
        return work.result(bound * _PHASES, stall=stall)
    except Blocked as where:
        error = Blocking(
            f"the store blocks the event loop: a verb must await, and never hold up its thread. It stands at\n{where}"
        )
    except Escaped as escaped:
        error = Unfinished(f"the store raised where the contract promises a result: {escaped}")
        error.__cause__ = escaped.__cause__
    return Failed(check=check, seed=seed, seconds=time.monotonic() - begun, error=error)
