"""A thread beside the handlers' loop, with a loop and a handle of its own: what must go on though handlers block."""

import asyncio
import logging
import threading
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from datetime import timedelta
from typing import Final

from klokka.runtime.opening import opened
from klokka.runtime.supervision import supervised
from klokka.spi.store import JobStore

logger = logging.getLogger("klokka.pulse")

_AGAIN: Final = 0.2

Duty = Callable[[], Awaitable[None]]


class Pulse:
    """Runs duties on a daemon thread from `start` until `stop`, or until the handlers' loop is gone.

    `duties` makes them once the handle is open, and the farewell that is awaited at the end, within `patience`.
    """

    def __init__(
        self,
        store: JobStore,
        duties: Callable[[JobStore], tuple[Mapping[str, Duty], Duty]],
        *,
        name: str = "pulse",
        patience: timedelta,
    ) -> None:
        self._store = store
        self._name = name
        self._duties = duties
        self._patience = patience.total_seconds()
        self._theirs = asyncio.get_running_loop()
        self._ours: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._stopping = False
        self._worked = False
        self._opened: asyncio.Future[None] = self._theirs.create_future()
        self._ended: asyncio.Future[None] = self._theirs.create_future()
        self._thread = threading.Thread(target=self._main, name=f"klokka-{name}", daemon=True)

    async def start(self) -> None:
        """Returns when the duties run, or when it was stopped before that; waits through an outage.

        Raises:
            KlokkaError: the handle cannot be opened, for another reason than an outage.
        """
        self._thread.start()
        await self._opened

    def stop(self) -> None:
        """Lets the thread end soon; may be called on any thread, and twice."""
        self._stopping = True
        if self._ours is not None and self._stop is not None:
            with suppress(RuntimeError):  # it has ended already
                self._ours.call_soon_threadsafe(self._stop.set)

    async def ended(self, within: float) -> bool:
        """Whether the thread has ended or never began, after waiting for it for at most `within` seconds."""
        if self._thread.ident is None:
            return True
        await asyncio.wait([self._ended], timeout=within)
        return self._ended.done()

    # On the thread

    def _main(self) -> None:
        failure: BaseException | None = None
        while True:
            try:
                asyncio.run(self._run())
            except BaseException as error:  # without it leases are lost or ticks late, so it outlives whatever happens
                failure = error
            if failure is None or self._stopping or not self._worked:
                break
            logger.error("the thread klokka-%s ended unexpectedly and starts again", self._name, exc_info=failure)
            failure = None
            time.sleep(_AGAIN)
        with suppress(RuntimeError):  # their loop is closed, and nobody waits
            self._theirs.call_soon_threadsafe(self._report, failure)

    async def _run(self) -> None:
        self._stop = stop = asyncio.Event()
        self._ours = asyncio.get_running_loop()
        if self._stopping:
            return
        handle = self._store.new_handle()
        try:
            if await opened(handle, stop):
                await self._work(handle, stop)
        finally:
            await handle.close()

    async def _work(self, handle: JobStore, stop: asyncio.Event) -> None:
        self._worked = True
        duties, farewell = self._duties(handle)
        tasks = [asyncio.create_task(supervised(name, duty)) for name, duty in duties.items()]
        self._theirs.call_soon_threadsafe(self._report_open)
        await stop.wait()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        with suppress(TimeoutError):
            async with asyncio.timeout(self._patience):
                await farewell()

    # On the handlers' loop

    def _report_open(self) -> None:
        if not self._opened.done():
            self._opened.set_result(None)

    def _report(self, failure: BaseException | None) -> None:
        if self._opened.done():
            pass
        elif failure is None:
            self._opened.set_result(None)
        else:
            self._opened.set_exception(failure)
        self._ended.set_result(None)
