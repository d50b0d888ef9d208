"""Small slips in what a verb takes or gives, in any store."""

import fnmatch
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

from klokka.core.ids import Fence, JobId, ScheduleId, WorkerId
from klokka.core.records import (
    Change,
    ClaimedJob,
    EnqueueResult,
    JobQuery,
    NewJob,
    QueueDepth,
    RetentionPolicy,
    SweepReport,
)
from klokka.core.worker_records import WorkerRow
from klokka.errors import InvalidInput, UniqueConflict
from klokka.stores.memory.rows import JobRow
from klokka.stores.memory.store import MemoryStore
from klokka.stores.sqlite.store import SqliteStore
from tests.tck.saboteurs.registry import breaks

ZONE = timezone(timedelta(hours=3))


@breaks("claim.kinds")
class FiltersKindsAfterTheLimit(MemoryStore):
    async def claim(self, **arguments: Any) -> list[ClaimedJob]:
        self._limit = arguments["limit"]
        return await super().claim(**arguments)

    def _claimable(self, queue: str, kinds: Collection[str], now: datetime) -> Iterator[JobRow]:
        seen = 0
        for row in sorted(self._data.table.rows.values(), key=lambda row: (row.due() or now, row.id)):
            due = row.due()
            if row.new.queue == queue and due is not None and due <= now:
                seen += 1
                if seen <= self._limit and row.new.kind in kinds:
                    yield row


@breaks("claim.kinds-empty")
class TakesNoQueuesForAll:
    async def claim(self, **arguments: Any) -> list[ClaimedJob]:
        queues = arguments["queues"] or [depth.queue for depth in await self.queue_depths()]
        return await super().claim(**{**arguments, "queues": queues})


@breaks("claim.next-due")
class AsksForNoKind:
    async def next_due(self, *, queues: Sequence[str], kinds: Collection[str]) -> datetime | None:
        return await super().next_due(queues=queues, kinds=[*kinds, "tck.other"])


@breaks("claim.next-due")
class NeverLooksBehindNow:
    async def next_due(self, **arguments: Any) -> datetime | None:
        at = await super().next_due(**arguments)
        return None if at is not None and at <= await self.now() else at


@breaks("claim.lease")
class KeepsTheLeaseThatEnded(MemoryStore):
    def _take(self, row: JobRow, worker: WorkerId, until: datetime) -> ClaimedJob:
        return super()._take(row, worker, row.lease_until or until)


@breaks("enqueue.unique-batch")
class CallsBothOfABatchCreated:
    async def enqueue(self, jobs: Sequence[NewJob]) -> list[EnqueueResult]:
        results = await super().enqueue(jobs)
        fresh = {result.id for result in results if result.created}
        return [replace(result, created=result.id in fresh) for result in results]


@breaks("enqueue.ids")
class TakesIdsFromTheClock(MemoryStore):
    async def enqueue(self, jobs: Sequence[NewJob]) -> list[EnqueueResult]:
        stamp = int(self._data.clock().timestamp()) * 1000
        self._data.last_id = stamp if stamp < self._data.last_id - 500 else max(stamp, self._data.last_id)
        return await super().enqueue(jobs)


@breaks("enqueue.ids")
class GivesIdsFromBlocksOfEachHandle(MemoryStore):
    async def enqueue(self, jobs: Sequence[NewJob]) -> list[EnqueueResult]:
        mine = self.__dict__.setdefault("_block", len(self._data.paused) + id(self) % 7919 * 1000)
        shared, self._data.last_id = self._data.last_id, mine
        try:
            return await super().enqueue(jobs)
        finally:
            self._block, self._data.last_id = self._data.last_id, shared


@breaks("enqueue.empty")
class AsksTheDatabaseForNothing(SqliteStore):
    async def enqueue(self, jobs: Sequence[NewJob]) -> list[EnqueueResult]:
        return await super().enqueue(jobs) if jobs else await self._write(lambda tx: [])


@breaks("heartbeat.held")
class RefusesToHoldNothing:
    async def heartbeat(self, held: Mapping[JobId, Fence], **arguments: Any) -> set[JobId]:
        if not held:
            raise InvalidInput("nothing is held")
        return await super().heartbeat(held, **arguments)


@breaks("transition.error")
class KeepsTheErrorOfARefusedChange(MemoryStore):
    async def transition(self, id: JobId, **arguments: Any) -> bool:
        done = await super().transition(id, **arguments)
        if not done and arguments.get("error") is not None and id in self._data.table.rows:
            self._data.table.rows[id].last_error = arguments["error"]
        return done


@breaks("transition.error")
class KnowsTheAttemptBetter:
    async def transition(self, id: JobId, **arguments: Any) -> bool:
        if (error := arguments.get("error")) is not None:
            arguments["error"] = replace(error, attempt=None, at=None)
        return await super().transition(id, **arguments)


@breaks("transition.cas")
class ReadsATimeToCompareInSeconds:
    async def transition(self, id: JobId, **arguments: Any) -> bool:
        from_ = arguments["from_"]
        for name in ("at", "retry_at"):
            if isinstance(at := getattr(from_, name, None), datetime):
                arguments["from_"] = type(from_)(at.replace(microsecond=0))
        return await super().transition(id, **arguments)


@breaks("transition.times")
class PlansRetriesFromTheEpoch:
    async def transition(self, id: JobId, **arguments: Any) -> bool:
        to = arguments["to"]
        if isinstance(wait := getattr(to, "retry_at", None), timedelta):
            arguments["to"] = type(to)(datetime.now(UTC) + wait)
        return await super().transition(id, **arguments)


@breaks("sweep.bounded")
class TakesZeroForAll:
    async def sweep(self, retention: RetentionPolicy, *, limit: int = 1000) -> SweepReport:
        return await super().sweep(retention, limit=limit or 1000)


@breaks("sweep.bounded")
class CountsKeysAgainstTheLimitOfJobs:
    async def sweep(self, retention: RetentionPolicy, *, limit: int = 1000) -> SweepReport:
        keep = RetentionPolicy(succeeded_for=None, cancelled_for=None, dead_lettered_for=None)
        keys = await super().sweep(keep, limit=limit)
        jobs = await super().sweep(retention, limit=max(limit - keys.keys, 0))
        return replace(jobs, keys=keys.keys + jobs.keys)


@breaks("sweep.retention")
class ForgetsCursors(MemoryStore):
    async def sweep(self, retention: RetentionPolicy, *, limit: int = 1000) -> SweepReport:
        self._data.cursors.clear()
        return await super().sweep(retention, limit=limit)


@breaks("sweep.retention")
class ForgetsDormantSchedules(MemoryStore):
    async def sweep(self, retention: RetentionPolicy, *, limit: int = 1000) -> SweepReport:
        for id_, state in list(self._data.schedules.items()):
            if state.next_fire_at is None:
                del self._data.schedules[id_]
        return await super().sweep(retention, limit=limit)


@breaks("schedule.due")
class FiltersFiresAfterTheLimit:
    async def due_schedules(self, **arguments: Any) -> list[Any]:
        rows = [row for row in await self.list_schedules() if row.next_fire_at is not None]
        first = sorted(rows, key=lambda row: row.next_fire_at)[: arguments["limit"]]
        ids = {row.id for row in first} & set(arguments["ids"])
        return await super().due_schedules(**{**arguments, "ids": list(ids)})


@breaks("schedule.due")
class CallsNowThePlan:
    async def due_schedules(self, **arguments: Any) -> list[Any]:
        return [replace(fire, scheduled_for=fire.now) for fire in await super().due_schedules(**arguments)]


@breaks("schedule.due")
class ForgetsWhichDefinitionFires:
    async def due_schedules(self, **arguments: Any) -> list[Any]:
        return [replace(fire, fingerprint="") for fire in await super().due_schedules(**arguments)]


@breaks("schedule.upsert-changed")
class NeverFallsAsleepByADefinition(MemoryStore):
    async def upsert_schedules(self, specs: Sequence[Any]) -> None:
        before = {id_: state.next_fire_at for id_, state in self._data.schedules.items()}
        await super().upsert_schedules(specs)
        for id_, at in before.items():
            self._data.schedules[id_].next_fire_at = self._data.schedules[id_].next_fire_at or at


@breaks("schedule.complete")
class RefusesARunWhoseKeyIsHeld:
    async def complete_fire(self, schedule_id: ScheduleId, **arguments: Any) -> list[EnqueueResult] | None:
        results = await super().complete_fire(schedule_id, **arguments)
        held = [result for result in results or [] if not result.created]
        if held:
            raise UniqueConflict("a run has a held key", holder=held[0].id)
        return results


@breaks("schedule.fence")
class RaisesForAnUnknownSchedule:
    async def complete_fire(self, schedule_id: ScheduleId, **arguments: Any) -> list[EnqueueResult] | None:
        if schedule_id not in {row.id for row in await self.list_schedules()}:
            raise InvalidInput(f"no schedule {schedule_id}")
        return await super().complete_fire(schedule_id, **arguments)


@breaks("lease.one")
class ReleasesWhatHasEnded(MemoryStore):
    async def release_lease(self, name: str, owner: str) -> bool:
        await super().release_lease(name, owner)
        return name in self._data.leases and self._data.leases[name].owner == owner


@breaks("lease.one")
class RenewsFromTheOldEnd(MemoryStore):
    async def acquire_lease(self, name: str, owner: str, ttl: timedelta) -> Fence | None:
        now = self._data.clock()
        lease = self._data.leases.get(name)
        end = None if lease is None or lease.until <= now or lease.owner != owner else lease.until
        fence = await super().acquire_lease(name, owner, ttl)
        if end is not None:
            self._data.leases[name].until = end + ttl
        return fence


@breaks("lease.cursor")
class TakesTheCursorsNameForTheLeases:
    async def advance_cursor(self, name: str, to: datetime, *, lease: str, fence: Fence) -> bool:
        return await super().advance_cursor(name, to, lease=name, fence=fence)


@breaks("lease.cursor")
class CutsCursorsToSeconds:
    async def advance_cursor(self, name: str, to: datetime, **arguments: Any) -> bool:
        return await super().advance_cursor(name, to.replace(microsecond=0), **arguments)


@breaks("time.aware")
class ReadsCursorsInItsOwnZone:
    async def read_cursor(self, name: str) -> datetime | None:
        at = await super().read_cursor(name)
        return None if at is None else at.astimezone(ZONE)


@breaks("time.aware")
class ListsSchedulesInItsOwnZone:
    async def list_schedules(self) -> list[Any]:
        rows = await super().list_schedules()
        return [replace(row, next_fire_at=row.next_fire_at and row.next_fire_at.astimezone(ZONE)) for row in rows]


@breaks("time.aware")
class ListsJobsInItsOwnZone:
    async def list_jobs(self, query: JobQuery) -> list[Any]:
        return [replace(job, run_at=job.run_at.astimezone(ZONE)) for job in await super().list_jobs(query)]


@breaks("time.aware")
class ListsWorkersInItsOwnZone:
    async def workers(self) -> list[WorkerRow]:
        return [replace(row, last_beat=row.last_beat.astimezone(ZONE)) for row in await super().workers()]


@breaks("time.aware")
class ShowsErrorsInItsOwnZone:
    async def get_job(self, id: JobId) -> Any:
        details = await super().get_job(id)
        if details is None or details.last_error is None:
            return details
        return replace(details, last_error=replace(details.last_error, at=details.last_error.at.astimezone(ZONE)))


@breaks("time.aware")
class ShowsDepthsInItsOwnZone:
    async def queue_depths(self) -> list[Any]:
        depths = await super().queue_depths()
        return [replace(depth, oldest_due=depth.oldest_due and depth.oldest_due.astimezone(ZONE)) for depth in depths]


@breaks("fleet.beat")
class StartsAnewWithEachBeat(MemoryStore):
    async def beat(self, worker: Any, **arguments: Any) -> None:
        self._data.workers.pop(worker.id, None)
        await super().beat(worker, **arguments)


@breaks("fleet.beat")
class ForgetsWorkersWithTheirLease:
    async def workers(self) -> list[WorkerRow]:
        return [row for row in await super().workers() if row.live]


@breaks("fleet.beat")
class ForgetsSlotsAndSchedules:
    async def workers(self) -> list[WorkerRow]:
        return [replace(row, beat=replace(row.beat, schedules=())) for row in await super().workers()]


@breaks("query.filters")
class FiltersKeysByPattern:
    async def list_jobs(self, query: JobQuery) -> list[Any]:
        if query.unique_key is None:
            return await super().list_jobs(query)
        page = await super().list_jobs(replace(query, unique_key=None))
        pattern = query.unique_key.replace("%", "*").replace("_", "?")
        details = {job.id: await self.get_job(job.id) for job in page}
        return [job for job in page if fnmatch.fnmatchcase(details[job.id].unique_key or "", pattern)]


@breaks("query.depths")
class ShowsQueuesOfWhatHasEnded:
    async def queue_depths(self) -> list[Any]:
        depths = await super().queue_depths()
        ended = {job.queue for job in await super().list_jobs(JobQuery(limit=1000))} - {each.queue for each in depths}
        zeros = [QueueDepth(queue=each, due=0, waiting=0, running=0, oldest_due=None, paused=None) for each in ended]
        return sorted([*depths, *zeros], key=lambda depth: depth.queue)


@breaks("query.details")
class ShowsTheNextAttempt:
    async def get_job(self, id: JobId) -> Any:
        details = await super().get_job(id)
        return details and replace(details, summary=replace(details.summary, attempt=details.summary.attempt + 1))


@breaks("batch.each")
class RefusesEmptyBatches:
    async def transition_many(self, changes: Sequence[Change]) -> list[bool]:
        if not changes:
            raise InvalidInput("no changes")
        return await super().transition_many(changes)


@breaks("batch.each")
class WritesWhatCameBeforeARefusedOne:
    async def transition_many(self, changes: Sequence[Change]) -> list[bool]:
        answers: list[bool] = []
        for change in changes:
            answers += await super().transition_many([change])
        return answers


@breaks("batch.each")
class SwapsFencesOfABatch:
    async def transition_many(self, changes: Sequence[Change]) -> list[bool]:
        fences = {change.fence for change in changes}
        found = {change.id: await self.get_job(change.id) for change in changes}
        return await super().transition_many(
            [
                replace(change, fence=found[change.id].fence)
                if found[change.id] is not None and found[change.id].fence in fences and change.fence is not None
                else change
                for change in changes
            ]
        )


@breaks("life.open")
class ClosesForAll(MemoryStore):
    async def open(self) -> None:
        if self._data.reserved.get("closed"):
            raise InvalidInput("the pool is closed")
        await super().open()

    async def close(self) -> None:
        await super().close()
        self._data.reserved["closed"] = self  # type: ignore[assignment]


@breaks("claim.kinds")
class CountsAKindTwice:
    async def claim(self, **arguments: Any) -> list[ClaimedJob]:
        kinds = list(arguments["kinds"])
        twice = [kind for kind in set(kinds) if kinds.count(kind) > 1]
        jobs = await super().claim(**arguments)
        return jobs + [job for job in jobs if job.kind in twice]


@breaks("operate.schedule")
class ResumesWhatIsNotPaused:
    async def resume_schedule(self, id: ScheduleId, next_fire_at: datetime | None) -> bool:
        if await super().resume_schedule(id, next_fire_at):
            return True
        paused = await super().pause_schedule(id, "to resume")
        return paused and await super().resume_schedule(id, next_fire_at)


@breaks("operate.schedule")
class ForgetsTheReason:
    async def pause_schedule(self, id: ScheduleId, reason: str) -> bool:
        return await super().pause_schedule(id, "paused")


@breaks("progress.held")
class RoundsProgressToHundredths:
    async def report_progress(self, id: JobId, *, fence: Fence, value: float) -> bool:
        return await super().report_progress(id, fence=fence, value=round(value, 1))


@breaks("wakeups.commit")
class FiresInSilence(MemoryStore):
    async def complete_fire(self, schedule_id: ScheduleId, **arguments: Any) -> Any:
        ring, self._data.work.ring = self._data.work.ring, lambda: None
        try:
            return await super().complete_fire(schedule_id, **arguments)
        finally:
            self._data.work.ring = ring


@breaks("wakeups.commit")
class SnoozesInSilence(MemoryStore):
    async def transition(self, id: JobId, **arguments: Any) -> bool:
        ring, self._data.work.ring = self._data.work.ring, lambda: None
        try:
            return await super().transition(id, **arguments)
        finally:
            self._data.work.ring = ring
