"""Saboteurs of what a store may also do."""

from collections.abc import AsyncGenerator, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, cast

from klokka.core.ids import Fence, JobId, KeyToken, ScheduleId
from klokka.core.records import Change, EnqueueResult, JobDetails, JobQuery, JobSummary, NewJob, QueueDepth
from klokka.core.schedule_records import ScheduleRow
from klokka.core.states import JobStatus
from klokka.core.worker_records import WorkerRow
from klokka.errors import UniqueConflict
from klokka.stores.memory.rows import JobRow
from klokka.stores.memory.store import MemoryStore
from klokka.stores.memory.transactions import MemoryTransaction, _Phase
from tests.tck.saboteurs.registry import breaks


@breaks("batch.each")
class StopsAtTheFirstStaleOne(MemoryStore):
    async def transition_many(self, changes: Sequence[Change]) -> list[bool]:
        answers: list[bool] = []
        for change in changes:
            alone = False not in answers and (await super().transition_many([change]))[0]
            answers.append(alone)
        return answers


@breaks("query.counts")
class LeavesOutZeros(MemoryStore):
    async def counts_by_status(self) -> Mapping[JobStatus, int]:
        return {status: count for status, count in (await super().counts_by_status()).items() if count}


@breaks("query.details")
class ShowsNoHeaders(MemoryStore):
    async def get_job(self, id: JobId) -> JobDetails | None:
        details = await super().get_job(id)
        return None if details is None else replace(details, headers={})


@breaks("query.schedules")
class ListsSchedulesAsTheyCame(MemoryStore):
    async def list_schedules(self) -> list[ScheduleRow]:
        return [state.row() for state in self._data.schedules.values()]


@breaks("query.depths")
class CallsEndedLeasesRunning(MemoryStore):
    async def queue_depths(self) -> list[QueueDepth]:
        ended = [
            row.new.queue
            for row in self._data.table.rows.values()
            if row.lease_until is not None and row.lease_until <= self._data.clock()
        ]
        return [
            replace(depth, due=depth.due - ended.count(depth.queue), running=depth.running + ended.count(depth.queue))
            for depth in await super().queue_depths()
        ]


@breaks("query.order")
class ListsTheOldestFirst(MemoryStore):
    async def list_jobs(self, query: JobQuery) -> list[JobSummary]:
        return (await super().list_jobs(query))[::-1]


@breaks("query.filters")
class IgnoresTheSchedule(MemoryStore):
    async def list_jobs(self, query: JobQuery) -> list[JobSummary]:
        return await super().list_jobs(replace(query, schedule_id=None))


@breaks("query.page")
class RepeatsTheCursor(MemoryStore):
    async def list_jobs(self, query: JobQuery) -> list[JobSummary]:
        before = None if query.before is None else JobId(query.before + 1)
        return await super().list_jobs(replace(query, before=before))


@breaks("query.pure")
class PromotesWhileReading(MemoryStore):
    async def get_job(self, id: JobId) -> JobDetails | None:
        details = await super().get_job(id)
        for row in self._data.table.rows.values():
            row.lapses += 1
        return details


@breaks("tx.atomic")
class StoresBeforeTheCommit(MemoryStore):
    async def enqueue_in(self, tx: MemoryTransaction, jobs: Sequence[NewJob]) -> list[EnqueueResult]:
        return await self.enqueue(jobs)


@breaks("tx.hands-off")
class CommitsForTheCaller(MemoryStore):
    async def enqueue_in(self, tx: MemoryTransaction, jobs: Sequence[NewJob]) -> list[EnqueueResult]:
        results = await super().enqueue_in(tx, jobs)
        tx.commit()
        tx._phase = _Phase.OPEN
        return results


@breaks("tx.open")
class TakesAFailedTransaction(MemoryStore):
    async def enqueue_in(self, tx: MemoryTransaction, jobs: Sequence[NewJob]) -> list[EnqueueResult]:
        if isinstance(tx, MemoryTransaction):
            tx._phase = _Phase.OPEN
        return await super().enqueue_in(tx, jobs)


@breaks("tx.unique")
class PoisonsTheTransaction(MemoryStore):
    async def enqueue_in(self, tx: MemoryTransaction, jobs: Sequence[NewJob]) -> list[EnqueueResult]:
        results = await super().enqueue_in(tx, jobs)
        if not all(result.created for result in results):
            tx.fail()
        return results


@breaks("operate.cancel")
class CancelsNothingThatRuns(MemoryStore):
    async def cancel(self, id: JobId) -> bool:
        return self._data.table.running(id) is None and await super().cancel(id)


@breaks("operate.requeue")
class RequeuesForLater(MemoryStore):
    async def requeue(self, id: JobId) -> bool:
        requeued = await super().requeue(id)
        if requeued:
            row = self._data.table.rows[id]
            row.run_at += timedelta(hours=1)
            self._data.table.moved(row)
        return requeued


@breaks("operate.delete")
class KeepsTheKeyOfADeletedJob(MemoryStore):
    async def delete(self, id: JobId) -> bool:
        row = self._data.table.rows.get(id)
        deleted = await super().delete(id)
        if row is not None and row.new.unique_key is not None:
            self._data.table.key_holders[row.new.unique_key] = id
        return deleted


@breaks("operate.schedule")
class LeavesTheFireInFlight(MemoryStore):
    async def pause_schedule(self, id: ScheduleId, reason: str) -> bool:
        state = self._data.schedules.get(id)
        if state is not None:
            state.paused = reason
        return state is not None


@breaks("progress.held")
class KeepsProgressForTheNextClaim(MemoryStore):
    def _take(self, row: JobRow, *rest: Any) -> Any:
        progress = row.progress
        claimed = super()._take(row, *rest)
        row.progress = progress
        return claimed


@breaks("fleet.beat")
class CallsTheDeadLive(MemoryStore):
    async def workers(self) -> list[WorkerRow]:
        return [replace(row, live=True) for row in await super().workers()]


@breaks("fleet.pause")
class TakesOverInAPausedQueue(MemoryStore):
    def _claimable(self, queue: str, kinds: Collection[str], now: datetime) -> Iterator[JobRow]:
        for line in self._data.table.lines(queue, kinds):
            for _, job in line.leased.until(now):
                yield self._data.table.rows[job]
        yield from super()._claimable(queue, kinds, now)


@breaks("key.once")
class HoldsAKeyAtItsTtl(MemoryStore):
    def _taken(self, scope: str, key: str, now: datetime) -> bool:
        return super()._taken(scope, key, now - timedelta(microseconds=1))


@breaks("key.owner")
class FreesForAnyToken(MemoryStore):
    async def release_key(self, scope: str, key: str, token: KeyToken) -> bool:
        return self._data.records.pop((scope, key), None) is not None


@breaks("key.owner")
class ForgetsWhatIsReleasedLate(MemoryStore):
    async def release_key(self, scope: str, key: str, token: KeyToken) -> bool:
        record = self._data.records.get((scope, key))
        freed = await super().release_key(scope, key, token)
        if record is not None and record.token == token:
            self._data.records.pop((scope, key), None)
        return freed


@breaks("key.atomic")
class ClaimsTheKeyOfARefusedJob(MemoryStore):
    async def enqueue_once(self, job: NewJob, *, scope: str, key: str, ttl: timedelta) -> JobId | None:
        try:
            return await super().enqueue_once(job, scope=scope, key=key, ttl=ttl)
        except UniqueConflict:
            await self.claim_key(scope, key, ttl)
            raise


@breaks("lease.one")
class RestartsTheFence(MemoryStore):
    async def release_lease(self, name: str, owner: str) -> bool:
        released = await super().release_lease(name, owner)
        if released:
            del self._data.leases[name]
        return released


@breaks("lease.one")
class ReentersWithAnotherFence(MemoryStore):
    async def acquire_lease(self, name: str, owner: str, ttl: timedelta) -> Fence | None:
        fence = await super().acquire_lease(name, owner, ttl)
        if fence is None:
            return None
        self._data.leases[name].fence = Fence(fence + 1)
        return self._data.leases[name].fence


@breaks("lease.cursor")
class MovesBackToo(MemoryStore):
    async def advance_cursor(self, name: str, to: datetime, *, lease: str, fence: Fence) -> bool:
        self._data.cursors.pop(name, None)
        return await super().advance_cursor(name, to, lease=lease, fence=fence)


@breaks("wakeups.commit")
class RingsForNoEnqueue(MemoryStore):
    async def enqueue(self, jobs: Sequence[NewJob]) -> list[EnqueueResult]:
        return [] if not jobs else await self._settled(lambda now: self._data.place(jobs, now, self._data.table.add))


@breaks("wakeups.first")
class BeginsInSilence(MemoryStore):
    async def wakeups(self) -> AsyncGenerator[None]:
        with self._data.work.heard_here() as rung:
            while True:
                await rung.wait()
                rung.clear()
                yield


@breaks("wakeups.hint")
class SaysWhatIsThere(MemoryStore):
    async def wakeups(self) -> AsyncGenerator[None]:
        async for _ in super().wakeups():
            yield cast("None", "a job")
