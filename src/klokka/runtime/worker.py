"""The worker: what an app starts and stops."""

import asyncio
import logging
import secrets
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Final, Self

from klokka.core.ids import WorkerId
from klokka.errors import MisuseError
from klokka.runtime.bus import EventBus
from klokka.runtime.crew import Crew, Orders
from klokka.runtime.handlers import Handler, Interceptor
from klokka.runtime.opening import opened
from klokka.runtime.overlaps import check_overlaps
from klokka.runtime.processes import ProcessPool
from klokka.runtime.recurrence import Recurrence
from klokka.runtime.settings import WorkerSettings
from klokka.spi.store import JobStore

logger = logging.getLogger("klokka.worker")


class Worker:
    """Runs jobs from entering the block to leaving it, at least once each, under leases that it can prove.

    It opens `store` if that is not open yet and never closes it. It is used once, on the loop on which it is entered.
    Leaving the block stops it softly; if that is cancelled, firmly.
    """

    def __init__(
        self,
        store: JobStore,
        handlers: Mapping[str, Handler],
        settings: WorkerSettings,
        *,
        events: EventBus,
        interceptors: Sequence[Interceptor] = (),
        processes: ProcessPool | None = None,
        schedules: Sequence[Recurrence] = (),
    ) -> None:
        """`processes` None makes a pool where a handler needs one; `schedules` are registered at the start and fired.

        Raises:
            UnsupportedByStore: a schedule needs what the store lacks.
        """
        check_overlaps(store, schedules)
        self.id: Final = WorkerId(secrets.token_hex(12))
        self._store = store
        self._orders = Orders(
            worker=self.id,
            handlers=dict(handlers),
            settings=settings,
            events=events,
            interceptors=tuple(interceptors),
            processes=processes,
            schedules=tuple(schedules),
        )
        self._stop_asked = asyncio.Event()
        self._forced = asyncio.Event()
        self._ended = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._life: asyncio.Task[None] | None = None
        self._crew: Crew | None = None

    async def __aenter__(self) -> Self:
        """Starts; through an outage it waits for the store. A stop asked for earlier or meanwhile starts nothing.

        Raises:
            StoreError: the store cannot be opened, for another reason than an outage.
            MisuseError: it was started before.
        """
        if self._loop is not None:
            raise MisuseError("this worker was started before. Make a new one for each start.")
        self._loop = asyncio.get_running_loop()
        started = asyncio.Event()
        starting = asyncio.create_task(started.wait())
        self._life = life = asyncio.create_task(self._live(started), name="klokka-worker")
        try:
            await asyncio.wait([starting, life], return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            self.stop_now()
            await asyncio.wait([life])
            raise
        finally:
            starting.cancel()
        if life.done():
            life.result()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            await self.stop()
        except asyncio.CancelledError:
            self.stop_now()
            await self.stopped()
            raise

    @property
    def stopping(self) -> bool:
        """Whether a stop was asked for."""
        return self._stop_asked.is_set()

    async def stop(self) -> None:
        """Stops softly and returns when it has: claims no more, lets work finish for the grace, hands back the rest.

        Honoured before, during and after the start, any number of times, and after the loop has ended.

        Raises:
            MisuseError: the worker runs on another loop.
        """
        self.stop_soon()
        await self.stopped()

    def stop_soon(self) -> None:
        """The same without waiting; fit for a signal handler on the loop."""
        self._stop_asked.set()
        if self._loop is None:
            self._ended.set()
        elif self._loop.is_closed() and not self._ended.is_set():
            self._ended = asyncio.Event()  # the old one's waiters went with that loop
            self._ended.set()
            if self._crew is not None:
                self._crew.abandon()

    def stop_now(self) -> None:
        """Stops without grace: running work is cancelled and has `hard_stop` to obey. Fit for a signal handler."""
        self._forced.set()
        self.stop_soon()

    async def stopped(self) -> None:
        """Returns when the worker has stopped, for whatever reason.

        Raises:
            MisuseError: the worker runs on another loop.
        """
        if not self._ended.is_set() and self._loop not in (None, asyncio.get_running_loop()):
            raise MisuseError("this worker runs on another event loop. Stop it there, or by loop.call_soon_threadsafe.")
        await self._ended.wait()

    def hint(self) -> None:
        """Lets it look for work at once, as a wakeup does."""
        if self._crew is not None:
            self._crew.hint()

    async def _live(self, started: asyncio.Event) -> None:
        """The whole life, in one task."""
        try:
            if not self.stopping and await opened(self._store, self._stop_asked):
                self._crew = Crew(self._store, self._orders)
                await self._crew.run(self._stop_asked, self._forced, started.set)
        except Exception:
            if started.is_set():  # else it is raised where the worker is entered
                logger.exception("worker %s ended unexpectedly; its leases will run out", self.id)
            raise
        finally:
            self._ended.set()
