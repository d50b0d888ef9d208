"""Saboteurs of enqueue."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from klokka.core.ids import JobId
from klokka.core.records import EnqueueResult, NewJob
from klokka.core.states import JobStatus
from klokka.errors import Busy
from klokka.stores.memory.store import MemoryStore
from tests.tck.saboteurs.registry import breaks


@breaks("enqueue.order")
class AnswersBackwards(MemoryStore):
    async def enqueue(self, jobs: Sequence[NewJob]) -> list[EnqueueResult]:
        return (await super().enqueue(jobs))[::-1]


@breaks("enqueue.empty")
class StoresSomethingForNothing(MemoryStore):
    async def enqueue(self, jobs: Sequence[NewJob]) -> list[EnqueueResult]:
        return await super().enqueue(jobs or [NewJob(kind="tck.job", payload="")])


@breaks("enqueue.atomic")
class StoresOneByOne(MemoryStore):
    async def enqueue(self, jobs: Sequence[NewJob]) -> list[EnqueueResult]:
        return [result for job in jobs for result in await super(StoresOneByOne, self).enqueue([job])]


@breaks("enqueue.ids")
class GivesIdsOfDeletedJobsAgain(MemoryStore):
    async def delete(self, id: JobId) -> bool:
        deleted = await super().delete(id)
        self._data.last_id = max(self._data.table.rows, default=0)
        return deleted


@breaks("enqueue.state")
class CallsEverythingEnqueued(MemoryStore):
    async def enqueue(self, jobs: Sequence[NewJob]) -> list[EnqueueResult]:
        results = await super().enqueue(jobs)
        for result in results:
            if result.created:
                self._data.table.rows[result.id].status = JobStatus.ENQUEUED
        return results


@breaks("enqueue.unique")
class OverwritesTheHolder(MemoryStore):
    async def enqueue(self, jobs: Sequence[NewJob]) -> list[EnqueueResult]:
        results = await super().enqueue(jobs)
        for job, result in zip(jobs, results, strict=True):
            if not result.created:
                row = self._data.table.rows[result.id]
                row.new = replace(row.new, payload=job.payload)
        return results


@breaks("enqueue.unique")
class KeepsKeysByKind(MemoryStore):
    async def enqueue(self, jobs: Sequence[NewJob]) -> list[EnqueueResult]:
        return await super().enqueue(
            [job if job.unique_key is None else replace(job, unique_key=job.kind + job.unique_key) for job in jobs]
        )


@breaks("enqueue.unique-batch")
class LetsTheLastOfABatchWin(MemoryStore):
    async def enqueue(self, jobs: Sequence[NewJob]) -> list[EnqueueResult]:
        last = {job.unique_key: job for job in jobs if job.unique_key is not None}
        return await super().enqueue([last.get(job.unique_key, job) for job in jobs])


@breaks("enqueue.unique-life")
class FreesTheKeyOnFailure(MemoryStore):
    def _move(self, row, to, planned_at, now, **more):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN003, ANN202
        super()._move(row, to, planned_at, now, **more)
        if to is JobStatus.FAILED:
            self._data.table.key_holders.pop(row.new.unique_key, None)


@breaks("enqueue.unique-race")
class LooksFirstAndStoresLater(MemoryStore):
    async def enqueue(self, jobs: Sequence[NewJob]) -> list[EnqueueResult]:
        free = [job.unique_key for job in jobs if job.unique_key not in self._data.table.key_holders]
        await asyncio.sleep(0.001)
        for key in free:
            self._data.table.key_holders.pop(key or "", None)
        return await super().enqueue(jobs)


@breaks("enqueue.bounded")
class RaisesSomethingElseWhenBusy(MemoryStore):
    async def enqueue(self, jobs: Sequence[NewJob]) -> list[EnqueueResult]:
        try:
            return await super().enqueue(jobs)
        except Busy as error:
            raise RuntimeError("locked") from error


@breaks("enqueue.text")
class StripsPayloads(MemoryStore):
    async def enqueue(self, jobs: Sequence[NewJob]) -> list[EnqueueResult]:
        return await super().enqueue([replace(job, payload=job.payload.strip(" ")) for job in jobs])


@breaks("enqueue.headers")
class ForgetsEmptyHeaders(MemoryStore):
    async def enqueue(self, jobs: Sequence[NewJob]) -> list[EnqueueResult]:
        return await super().enqueue(
            [replace(job, headers={name: value for name, value in job.headers.items() if value}) for job in jobs]
        )


@breaks("enqueue.headers")
class SharesTheCallersHeaders(MemoryStore):
    async def enqueue(self, jobs: Sequence[NewJob]) -> list[EnqueueResult]:
        results = await super().enqueue(jobs)
        for job, result in zip(jobs, results, strict=True):
            row = self._data.table.rows[result.id]
            row.new = replace(row.new, headers=job.headers)
        return results


@breaks("enqueue.limits")
class CutsWhatIsTooLong(MemoryStore):
    async def enqueue(self, jobs: Sequence[NewJob]) -> list[EnqueueResult]:
        most = self.traits.limits.payload
        return await super().enqueue([replace(job, payload=job.payload[:most]) for job in jobs])
