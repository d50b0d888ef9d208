"""How far jobs say they are: the latest value of each on its way to the store, best effort."""

import asyncio
import logging
from contextlib import suppress

from klokka.core.ids import JobId
from klokka.core.records import ClaimedJob
from klokka.errors import KlokkaError
from klokka.spi.operate import ProgressStore

logger = logging.getLogger("klokka.progress")


class Progress:
    """Keeps values in the store where it can, and nowhere else. A value that fails to be kept fails no job."""

    def __init__(self, store: object) -> None:
        self._store = store if isinstance(store, ProgressStore) else None
        self._loop = asyncio.get_running_loop()
        self._told: dict[JobId, float] = {}
        self._writes: dict[JobId, asyncio.Task[None]] = {}

    async def report(self, job: ClaimedJob, value: float) -> None:
        """From the loop."""
        if self._store is None:
            return
        try:
            await self._store.report_progress(job.id, fence=job.fence, value=value)
        except KlokkaError as error:
            logger.debug("the progress of job %d was not kept: %s", job.id, error)

    def tell(self, job: ClaimedJob, value: float) -> None:
        """From any thread."""
        if self._store is None:
            return
        with suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(self._write_soon, job, value)

    def _write_soon(self, job: ClaimedJob, value: float) -> None:
        self._told[job.id] = value
        if job.id not in self._writes:
            self._writes[job.id] = self._loop.create_task(self._write(job))

    async def _write(self, job: ClaimedJob) -> None:
        """Writes the latest value told until none is left, so that a busy thread never queues more than one."""
        try:
            while (value := self._told.pop(job.id, None)) is not None:
                await self.report(job, value)
        finally:
            del self._writes[job.id]
