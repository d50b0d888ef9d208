"""What a started worker consists of: the duties, wired to one another, supervised, and ended in order."""

import asyncio
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version
from typing import Final

from klokka.core.ids import WorkerId
from klokka.core.worker_records import WorkerBeat
from klokka.runtime.beats import Beats, this_process
from klokka.runtime.bus import EventBus
from klokka.runtime.claimer import Claimer
from klokka.runtime.execution import Execution
from klokka.runtime.executor import JobExecutor
from klokka.runtime.handlers import Executor, Handler, Interceptor
from klokka.runtime.heartbeater import Heartbeater
from klokka.runtime.held import Held, HeldJobs
from klokka.runtime.lookout import Lookout
from klokka.runtime.pace import Pace
from klokka.runtime.processes import ProcessPool
from klokka.runtime.progress import Progress
from klokka.runtime.pulse import Duty, Pulse
from klokka.runtime.recurrence import Recurrence
from klokka.runtime.settings import WorkerSettings
from klokka.runtime.settler import Settler
from klokka.runtime.shutdown import Shutdown
from klokka.runtime.slots import Slots
from klokka.runtime.supervision import supervised
from klokka.runtime.sweeper import Sweeper
from klokka.runtime.threads import Threads
from klokka.runtime.ticker import Ticker
from klokka.runtime.watchdog import Watchdog
from klokka.spi.store import JobStore

_LAST_WORDS: Final = 1.0
"""Seconds that listeners get for what was told last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Orders:
    """What a worker is to do."""

    worker: WorkerId
    handlers: Mapping[str, Handler]
    settings: WorkerSettings
    events: EventBus
    interceptors: Sequence[Interceptor]
    processes: ProcessPool | None
    schedules: Sequence[Recurrence]


class Crew:
    """Serves one worker from `run` to its end. The store is open; all but the pulse belongs to the running loop."""

    def __init__(self, store: JobStore, orders: Orders) -> None:
        self._orders = orders
        self._settings = settings = orders.settings
        self._bus = bus = orders.events
        self._loop = asyncio.get_running_loop()
        self._held = held = HeldJobs()
        self._own_processes = self._new_processes()
        threads = Threads()
        slots = Slots(settings.queues, settings.concurrency)
        pace = Pace(settings.concurrency, settings.lease)
        self._settler = Settler(store, held, bus)
        self._executor = JobExecutor(
            Execution(
                threads=threads,
                processes=orders.processes or self._own_processes,
                interceptors=orders.interceptors,
            ),
            held=held,
            slots=slots,
            pace=pace,
            settle=self._settler.settle,
            bus=bus,
            progress=Progress(store),
            lease=settings.lease,
        )
        self._claimer = Claimer(
            store,
            orders.handlers,
            settings,
            worker=orders.worker,
            held=held,
            slots=slots,
            pace=pace,
            executor=self._executor,
            settler=self._settler,
        )
        self._shutdown = Shutdown(
            settings, claimer=self._claimer, executor=self._executor, settler=self._settler, threads=threads
        )
        self._lookout = Lookout(store, self._claimer.hint)
        self._sweeper = Sweeper(store, settings.retention, settings.sweep_every)
        self._thread = threading.get_ident()
        self._version = version("klokka")
        self._pulse = Pulse(store, self._on_pulse, patience=settings.hard_stop)
        # A thread of its own: a calendar of the user's that does not answer must hold up no renewal.
        self._ticking = Pulse(store, self._on_ticking, name="ticker", patience=settings.hard_stop)

    def hint(self) -> None:
        """Work may be ready."""
        self._claimer.hint()

    def abandon(self) -> None:
        """For a loop that has ended: lets go of what is not on it."""
        self._pulse.stop()
        self._ticking.stop()

    async def run(self, stop: asyncio.Event, forced: asyncio.Event, started: Callable[[], None]) -> None:
        """Works until `stop` is set, and then ends in order; `forced` cuts the end short.

        Raises:
            StoreError: a handle for the threads beside cannot be opened, for another reason than an outage.
        """
        self._bus.bind(self._loop)
        stopping = asyncio.create_task(stop.wait())
        duties = [asyncio.create_task(self._start_beside())]
        try:
            await asyncio.wait([stopping, *duties], return_when=asyncio.FIRST_COMPLETED)
            if duties[0].done():
                duties[0].result()
            if not stop.is_set():
                for name, duty in self._on_loop().items():
                    duties.append(asyncio.create_task(supervised(name, duty), name=f"klokka-{name}"))
                claiming = asyncio.create_task(supervised("claimer", self._claimer.run), name="klokka-claimer")
                started()
                await stopping
                self._ticking.stop()
                await self._shutdown.run(claiming, forced)
        finally:
            self._pulse.stop()
            self._ticking.stop()
            for task in (stopping, *duties):
                task.cancel()
        await self._leave(duties)

    async def _leave(self, duties: Sequence[asyncio.Task[None]]) -> None:
        await asyncio.wait(duties, timeout=self._settings.hard_stop.total_seconds())
        for pulse in (self._pulse, self._ticking):
            await pulse.ended(self._settings.hard_stop.total_seconds())
        if self._own_processes is not None:
            await self._own_processes.close(within=self._settings.hard_stop)
        await self._bus.flush(_LAST_WORDS)

    async def _start_beside(self) -> None:
        await self._pulse.start()
        if self._orders.schedules:
            await self._ticking.start()

    def _on_loop(self) -> Mapping[str, Duty]:
        return {"settler": self._settler.run, "lookout": self._lookout.run, "sweeper": self._sweeper.run}

    def _on_pulse(self, handle: JobStore) -> tuple[Mapping[str, Duty], Duty]:
        """What runs on the thread beside, and how it says farewell."""
        lease = self._settings.lease
        watchdog = Watchdog(
            self._loop,
            thread=self._thread,
            bus=self._bus,
            blocked_after=self._settings.blocked_after,
            gone=self._pulse.stop,
        )
        heartbeater = Heartbeater(
            handle,
            self._held,
            worker=self._orders.worker,
            lease=lease,
            lost=self._lost,
            blocked=lambda: watchdog.blocked,
        )
        beats = Beats(handle, self._beat, lease)
        duties: Mapping[str, Duty] = {
            "heartbeater": heartbeater.run,
            "lease watch": heartbeater.watch,
            "watchdog": watchdog.run,
            "beats": beats.run,
        }
        return duties, beats.retire

    def _on_ticking(self, handle: JobStore) -> tuple[Mapping[str, Duty], Duty]:
        """What runs on the thread of schedules, and how it ends."""
        ticker = Ticker(
            handle,
            self._orders.schedules,
            worker=self._orders.worker,
            bus=self._bus,
            lease=self._settings.lease,
            poll=self._settings.poll,
        )
        return {"ticker": ticker.run}, ticker.finished

    def _lost(self, held: Held) -> None:
        """On the pulse's thread: a thread or process learns it even while the loop is blocked."""
        if held.context is not None:
            held.context.cancel()
        with suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(self._executor.lose, held)

    def _beat(self) -> WorkerBeat:
        host, pid = this_process()
        return WorkerBeat(
            id=self._orders.worker,
            host=host,
            pid=pid,
            version=self._version,
            queues=tuple(queue.name for queue in self._settings.queues),
            kinds=tuple(self._orders.handlers),
            schedules=tuple(recurrence.id for recurrence in self._orders.schedules),
            slots=self._settings.concurrency,
            busy=self._executor.running,
        )

    def _new_processes(self) -> ProcessPool | None:
        """A pool of our own, where one is needed and none was given."""
        needed = any(handler.executor is Executor.PROCESS for handler in self._orders.handlers.values())
        return ProcessPool(self._orders.settings.concurrency) if needed and self._orders.processes is None else None
