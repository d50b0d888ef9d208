"""The verbs for sync code: a background loop with its own handle, started at the first call."""

import asyncio
import os
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import CancelledError
from typing import Any, TypeVar

from klokka.errors import MisuseError
from klokka.spi.store import JobStore

T = TypeVar("T")


class BlockingSide:
    """Runs verbs on a loop of its own in a daemon thread. After a fork the child starts its own."""

    def __init__(self, origin: Callable[[], JobStore]) -> None:
        self._origin = origin
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._store: asyncio.Task[JobStore] | None = None
        self._calls: set[asyncio.Task[Any] | None] = set()
        self._pid = 0

    def call(self, verb: Callable[[JobStore], Awaitable[T]], async_twin: str) -> T:
        """What `verb` gives on the background loop, waited for in the caller's thread.

        Raises:
            MisuseError: the calling thread runs an event loop, which would stand still meanwhile; or another thread
                closed the app meanwhile, and what the verb was to write may be written or not.
        """
        refuse_on_a_loop(async_twin)
        with self._lock:  # the loop is not stopped between being found and being given the verb
            answer = asyncio.run_coroutine_threadsafe(self._with_store(verb), self._running_loop())
        try:
            return answer.result()
        except CancelledError:
            raise MisuseError(
                "the app was closed while this verb ran. What it was to write may be written or not; look before "
                "repeating it."
            ) from None
        except BaseException:
            answer.cancel()  # on Ctrl-C the verb would run on, and a wait for ever
            raise

    def close(self) -> None:
        """Ends the verbs under way, closes the handle and ends the thread; a later call starts anew. Idempotent."""
        with self._lock:
            loop, self._loop = self._loop, None
            if loop is None or self._pid != os.getpid():
                return
            asyncio.run_coroutine_threadsafe(self._end(), loop).result()
            loop.call_soon_threadsafe(loop.stop)

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        if self._loop is None or self._pid != os.getpid():
            self._loop, self._store, self._pid = asyncio.new_event_loop(), None, os.getpid()
            self._calls = set()
            threading.Thread(target=_run_loop, args=(self._loop,), name="klokka-sync", daemon=True).start()
        return self._loop

    async def _with_store(self, verb: Callable[[JobStore], Awaitable[T]]) -> T:
        call = asyncio.current_task()
        self._calls.add(call)
        try:
            return await verb(await self._opened_store())
        finally:
            self._calls.discard(call)

    async def _opened_store(self) -> JobStore:
        if self._store is None:  # one task, so that threads that come together open one handle
            self._store = asyncio.ensure_future(_opened(self._origin()))
        opening = self._store
        try:
            return await asyncio.shield(opening)
        except BaseException:
            if opening.done() and self._store is opening:  # else it is this call that ends, and not the opening
                self._store = None
            raise

    async def _end(self) -> None:
        calls = [call for call in self._calls if call is not None]
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
        opening, self._store = self._store, None
        if opening is not None:
            await (await opening).close()


def refuse_on_a_loop(async_twin: str) -> None:
    """Returns if the calling thread runs no event loop.

    Raises:
        MisuseError: it does; names the verb to await instead.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    raise MisuseError(f"a sync verb would block the event loop of this thread. Use `await {async_twin}` here.")


async def _opened(origin: JobStore) -> JobStore:
    store = origin.new_handle()
    await store.open()
    return store


def _run_loop(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    loop.run_forever()
    loop.close()
