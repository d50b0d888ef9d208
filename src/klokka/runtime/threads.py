"""Threads for sync handlers: daemons of our own, so that one that never ends cannot hold up the end of the process."""

import asyncio
import contextvars
import itertools
import queue
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from klokka.runtime.context import JobContext

_serial: Final = itertools.count(1)


class Threads:
    """Runs calls on threads, as many as are asked for at once; an idle thread is used again.

    A thread cannot be ended from outside. Its call is told through the job's context, and `run` returns when it has
    ended, or when `abandon` gives it up. At `close` the idle threads end, and with them what they keep open.
    """

    def __init__(self) -> None:
        self._work: queue.SimpleQueue[_Call | None] = queue.SimpleQueue()
        self._idle = 0
        self._count = 0
        self._calls: set[_Call] = set()

    async def run(self, call: Callable[[], Any], context: JobContext) -> Any:
        """What `call` returns or raises. The caller's context variables are seen in the thread.

        A cancellation is passed on as `context.cancelled` and raised again when the call has ended.
        """
        work = _Call(call, asyncio.get_running_loop())
        self._calls.add(work)
        if self._idle > 0:
            self._idle -= 1
        else:
            self._count += 1
            threading.Thread(target=self._serve, name=f"klokka-job-{next(_serial)}", daemon=True).start()
        self._work.put(work)
        cancelled: asyncio.CancelledError | None = None
        while not work.ended.done():
            try:
                await asyncio.shield(work.ended)
            except asyncio.CancelledError as error:
                context.cancel()
                cancelled = error
        self._calls.discard(work)
        self._idle += 1
        if cancelled is not None:
            raise cancelled
        if work.error is not None:
            raise work.error
        return work.outcome

    def abandon(self) -> int:
        """Lets every `run` under way end as cancelled while its thread goes on; gives their number."""
        left = [work for work in self._calls if not work.ended.done()]
        for work in left:
            work.error = asyncio.CancelledError("the worker left while the thread ran on")
            work.ended.set_result(None)
        return len(left)

    def close(self) -> None:
        """Lets idle threads end, and busy ones after their call."""
        for _ in range(self._count):
            self._work.put(None)
        self._count = self._idle = 0

    def _serve(self) -> None:
        while (work := self._work.get()) is not None:
            work.perform()
            del work  # an idle thread keeps nothing of its last job alive


class _Call:
    """One call on its way through a thread."""

    __slots__ = ("_call", "_context", "_loop", "ended", "error", "outcome")

    def __init__(self, call: Callable[[], Any], loop: asyncio.AbstractEventLoop) -> None:
        self._call = call
        self._loop = loop
        self._context = contextvars.copy_context()
        self.ended: asyncio.Future[None] = loop.create_future()
        self.outcome: Any = None
        self.error: BaseException | None = None

    def perform(self) -> None:
        outcome: Any = None
        error: BaseException | None = None
        try:
            outcome = self._context.run(self._call)
        except BaseException as raised:  # SystemExit too fails the job and spares the thread
            error = raised
        with suppress(RuntimeError):  # the loop was closed: nobody waits any more
            self._loop.call_soon_threadsafe(self._end, outcome, error)

    def _end(self, outcome: Any, error: BaseException | None) -> None:
        if not self.ended.done():
            self.outcome, self.error = outcome, error
            self.ended.set_result(None)
