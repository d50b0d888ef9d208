"""How a worker ends: softly, then firmly, and within a bound."""

import asyncio
import logging
from collections.abc import Awaitable
from contextlib import suppress
from typing import Any

from klokka.core.durations import spell
from klokka.runtime.claimer import Claimer
from klokka.runtime.executor import JobExecutor
from klokka.runtime.held import Ending
from klokka.runtime.settings import WorkerSettings
from klokka.runtime.settler import Settler
from klokka.runtime.threads import Threads

logger = logging.getLogger("klokka.shutdown")


class Shutdown:
    """Brings the jobs of a worker to an end.

    1. Claims no more; what was not started goes back at once, without a charge; so does what a claim in flight brings.
    2. Running handlers have `grace` to finish; `forced` cuts it short.
    3. Those that remain are cancelled and have `hard_stop` to obey; what they held goes back, charged as an attempt.
    4. Those that do not obey are left: nothing is written about them, and their leases run out.

    It takes `grace` plus twice `hard_stop` at most, the second for writing. Leases are renewed meanwhile.
    """

    def __init__(
        self,
        settings: WorkerSettings,
        *,
        claimer: Claimer,
        executor: JobExecutor,
        settler: Settler,
        threads: Threads,
    ) -> None:
        self._grace = settings.grace
        self._hard_stop = settings.hard_stop.total_seconds()
        self._claimer = claimer
        self._executor = executor
        self._settler = settler
        self._threads = threads

    async def run(self, claiming: asyncio.Task[None], forced: asyncio.Event) -> None:
        """Returns when the worker holds nothing any more, or has left what it cannot end."""
        self._claimer.stop()
        self._executor.drain()
        if self._executor.running and not forced.is_set():
            logger.info("stopping: %d running jobs have %s to finish", self._executor.running, spell(self._grace))
        idle = asyncio.gather(claiming, self._executor.idle(), return_exceptions=True)
        await self._within(self._grace.total_seconds(), idle, forced.wait())
        if not idle.done():
            await self._end_firmly(idle)
        await self._within(self._hard_stop, self._settler.flushed())
        if self._settler.backlog:
            logger.error(
                "%d results could not be written before the end; their leases will run out and the jobs run again",
                self._settler.backlog,
            )
        self._threads.close()

    async def _end_firmly(self, idle: asyncio.Future[Any]) -> None:
        if self._executor.running:
            logger.warning("cancelling %d jobs that did not finish in time", self._executor.running)
        self._executor.cancel_all(Ending.STOPPED)
        await self._within(self._hard_stop, idle)
        if not idle.done():
            for job in self._executor.leave():
                logger.error(
                    "job %d (%s) did not end when it was cancelled, and is left behind. Its lease will run out and it "
                    "will run again; let its handler pass cancellation on, or look at current_job().cancelled.",
                    job.id,
                    job.kind,
                )
            self._threads.abandon()
            idle.cancel()

    async def _within(self, seconds: float, *any_of: Awaitable[Any]) -> None:
        """Waits for the first of these, and for so many seconds at most; only tasks made here are cancelled."""
        futures = [asyncio.ensure_future(each) for each in any_of]
        made = [future for future, given in zip(futures, any_of, strict=True) if future is not given]
        await asyncio.wait(futures, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        for future in made:
            future.cancel()
        for future in made:
            with suppress(asyncio.CancelledError):
                await future
