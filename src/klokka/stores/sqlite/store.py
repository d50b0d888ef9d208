"""The SQLite store: every verb of the contract, each checked at the door and run on the handle's own threads."""

import asyncio
import sqlite3
from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial

from klokka.core.changes import check_change
from klokka.core.ids import Fence, JobId, KeyToken, ScheduleId, WorkerId
from klokka.core.instants import aware, positive
from klokka.core.names import check_key, check_queue, check_text
from klokka.core.records import (
    Change,
    ClaimedJob,
    EnqueueResult,
    JobDetails,
    JobError,
    JobQuery,
    JobSummary,
    NewJob,
    QueueDepth,
    RetentionPolicy,
    SweepReport,
)
from klokka.core.schedule_records import ScheduleFire, ScheduleRow, ScheduleSpec
from klokka.core.states import JobStatus, State
from klokka.core.worker_records import WorkerBeat, WorkerRow
from klokka.errors import InvalidInput
from klokka.spi.batch import BatchingStore
from klokka.spi.fleet import FleetStore
from klokka.spi.jobs import NO_CAPS
from klokka.spi.keys import EnqueueOnceStore, LeaseStore
from klokka.spi.life import MigratableStore, Migrations
from klokka.spi.operate import OperableStore, ProgressStore
from klokka.spi.query import QueryableStore
from klokka.spi.store import JobStore
from klokka.spi.transactions import SyncTransactionalStore
from klokka.spi.wakeups import PushCapableStore
from klokka.stores import _doors as doors
from klokka.stores.sqlite import (
    claims,
    fleet,
    held_jobs,
    inserts,
    keys,
    migrator,
    operations,
    queries,
    schedules,
    sweeps,
    transitions,
)
from klokka.stores.sqlite.handle import Handle
from klokka.stores.sqlite.users_transaction import enqueue_in


class SqliteStore(
    Handle,
    JobStore,
    MigratableStore,
    PushCapableStore,
    QueryableStore,
    SyncTransactionalStore[sqlite3.Connection],
    BatchingStore,
    OperableStore,
    ProgressStore,
    FleetStore,
    EnqueueOnceStore,
    LeaseStore,
):
    """Jobs and schedules in one SQLite file, shared by any number of processes and threads of one machine.

    Tables of the user's may live in the same file; ours begin with `klokka_`. The file is kept in WAL mode. Writers
    take turns: each waits for at most `busy_bound` and then raises `Busy`. What each verb promises stands in
    `klokka.spi`, and nothing is promised beyond that. The file must be on a local disk.
    """

    async def now(self) -> datetime:
        self._open_session()
        return self._setting.clock().astimezone(UTC)

    async def schema(self) -> Migrations:
        return await asyncio.to_thread(self._setting.standing)

    async def migrate(self) -> Migrations:
        return await asyncio.to_thread(self._setting.migrate)

    def migration_sql(self) -> str:
        return migrator.script()

    def wakeups(self) -> AsyncGenerator[None]:
        return self._open_session().subscriptions.hints()

    async def enqueue(self, jobs: Sequence[NewJob]) -> list[EnqueueResult]:
        if not jobs:
            return []
        self._traits.limits.admit(jobs)
        return await self._write(partial(inserts.enqueue, jobs=tuple(jobs)))

    def enqueue_in_sync(self, tx: sqlite3.Connection, jobs: Sequence[NewJob]) -> list[EnqueueResult]:
        self._traits.limits.admit(jobs)
        return enqueue_in(tx, jobs, path=self.path, clock=self._setting.clock)

    async def claim(
        self,
        *,
        queues: Sequence[str],
        kinds: Collection[str],
        limit: int,
        lease: timedelta,
        worker: WorkerId,
        caps: Mapping[str, int] = NO_CAPS,
    ) -> list[ClaimedJob]:
        doors.check_holding(worker, lease, limit)
        for queue, cap in caps.items():
            doors.check_count(f"the cap of queue {queue!r}", cap)
        if not (queues and kinds and limit):
            return []
        return await self._write(
            partial(
                claims.claim,
                queues=tuple(dict.fromkeys(queues)),
                kinds=tuple(dict.fromkeys(kinds)),
                limit=limit,
                lease=lease,
                worker=worker,
                caps=dict(caps),
            )
        )

    async def next_due(self, *, queues: Sequence[str], kinds: Collection[str]) -> datetime | None:
        return await self._read(partial(claims.next_due, queues=tuple(queues), kinds=tuple(kinds)))

    async def heartbeat(self, held: Mapping[JobId, Fence], *, worker: WorkerId, extend: timedelta) -> set[JobId]:
        positive(extend, "extend")
        check_text("worker", worker)
        possible = doors.plausible(dict(held))
        if not possible:
            return set()
        return await self._write(partial(held_jobs.heartbeat, held=possible, worker=worker, extend=extend))

    async def transition(
        self,
        id: JobId,
        *,
        from_: State,
        to: State,
        fence: Fence | None = None,
        error: JobError | None = None,
        refund: bool = False,
    ) -> bool:
        change = Change(id=id, from_=from_, to=to, fence=fence, error=error, refund=refund)
        check_change(change)
        return await self._write(partial(transitions.transition, change=change))

    async def transition_many(self, changes: Sequence[Change]) -> list[bool]:
        for change in changes:
            check_change(change)
        if not changes:
            return []
        return await self._write(partial(transitions.transition_many, changes=tuple(changes)))

    async def sweep(self, retention: RetentionPolicy, *, limit: int = 1000) -> SweepReport:
        doors.check_count("limit", limit)
        return await self._write(partial(sweeps.sweep, retention=retention, limit=limit))

    async def upsert_schedules(self, specs: Sequence[ScheduleSpec]) -> None:
        doors.check_specs(specs, self._traits.limits)
        if specs:
            await self._write(partial(schedules.upsert_schedules, specs=tuple(specs)))

    async def due_schedules(
        self, *, ids: Collection[ScheduleId], limit: int, lease: timedelta, worker: WorkerId
    ) -> list[ScheduleFire]:
        doors.check_holding(worker, lease, limit)
        if not (ids and limit):
            return []
        return await self._write(
            partial(schedules.due_schedules, ids=tuple(ids), limit=limit, lease=lease, worker=worker)
        )

    async def complete_fire(
        self, schedule_id: ScheduleId, *, fence: Fence, runs: Sequence[NewJob], next_fire_at: datetime | None
    ) -> list[EnqueueResult] | None:
        self._traits.limits.admit(runs)
        if next_fire_at is not None:
            aware(next_fire_at, "next_fire_at")
        if not doors.known_fence(fence):
            return None
        return await self._write(
            partial(
                schedules.complete_fire,
                schedule_id=schedule_id,
                fence=fence,
                runs=tuple(runs),
                next_fire_at=next_fire_at,
            )
        )

    async def counts_by_status(self) -> Mapping[JobStatus, int]:
        return await self._read(queries.counts_by_status)

    async def get_job(self, id: JobId) -> JobDetails | None:
        return await self._read(partial(queries.get_job, id=id)) if doors.known_id(id) else None

    async def list_jobs(self, query: JobQuery) -> list[JobSummary]:
        doors.check_query(query)
        return await self._read(partial(queries.list_jobs, query=query))

    async def list_schedules(self) -> list[ScheduleRow]:
        return await self._read(queries.list_schedules)

    async def queue_depths(self) -> list[QueueDepth]:
        return await self._read(queries.queue_depths)

    async def cancel(self, id: JobId) -> bool:
        return doors.known_id(id) and await self._write(partial(operations.cancel, id=id))

    async def requeue(self, id: JobId) -> bool:
        return doors.known_id(id) and await self._write(partial(operations.requeue, id=id))

    async def delete(self, id: JobId) -> bool:
        return doors.known_id(id) and await self._write(partial(operations.delete, id=id))

    async def pause_schedule(self, id: ScheduleId, reason: str) -> bool:
        doors.check_reason(reason, self._traits.limits)
        return await self._write(partial(operations.pause_schedule, id=id, reason=reason))

    async def resume_schedule(self, id: ScheduleId, next_fire_at: datetime | None) -> bool:
        if next_fire_at is not None:
            aware(next_fire_at, "next_fire_at")
        return await self._write(partial(operations.resume_schedule, id=id, next_fire_at=next_fire_at))

    async def report_progress(self, id: JobId, *, fence: Fence, value: float) -> bool:
        if not 0.0 <= value <= 1.0:
            raise InvalidInput(f"progress is {value}. Give 0.0 to 1.0.")
        if not (doors.known_id(id) and doors.known_fence(fence)):
            return False
        return await self._write(partial(held_jobs.report_progress, id=id, fence=fence, value=value))

    async def beat(self, worker: WorkerBeat, *, live_for: timedelta) -> None:
        positive(live_for, "live_for")
        doors.check_beat(worker)
        await self._write(partial(fleet.beat, worker=worker, live_for=live_for))

    async def retire(self, worker: WorkerId) -> None:
        await self._write(partial(fleet.retire, worker=worker))

    async def workers(self) -> list[WorkerRow]:
        return await self._read(fleet.workers)

    async def pause_queue(self, queue: str, reason: str) -> None:
        check_queue(queue)
        doors.check_reason(reason, self._traits.limits)
        await self._write(partial(fleet.pause_queue, queue=queue, reason=reason))

    async def resume_queue(self, queue: str) -> bool:
        return await self._write(partial(fleet.resume_queue, queue=queue))

    async def paused_queues(self) -> Mapping[str, str]:
        return await self._read(fleet.paused_queues)

    async def claim_key(self, scope: str, key: str, ttl: timedelta) -> KeyToken | None:
        self._check_key(scope, key, ttl)
        return await self._write(partial(keys.claim_key, scope=scope, key=key, ttl=ttl))

    async def release_key(self, scope: str, key: str, token: KeyToken) -> bool:
        return await self._write(partial(keys.release_key, scope=scope, key=key, token=token))

    async def enqueue_once(self, job: NewJob, *, scope: str, key: str, ttl: timedelta) -> JobId | None:
        self._check_key(scope, key, ttl)
        self._traits.limits.admit([job])
        return await self._write(partial(keys.enqueue_once, job=job, scope=scope, key=key, ttl=ttl))

    async def acquire_lease(self, name: str, owner: str, ttl: timedelta) -> Fence | None:
        check_key("lease name", name, self._traits.limits.name)
        check_key("owner", owner, self._traits.limits.name)
        positive(ttl, "ttl")
        return await self._write(partial(keys.acquire_lease, name=name, owner=owner, ttl=ttl))

    async def release_lease(self, name: str, owner: str) -> bool:
        return await self._write(partial(keys.release_lease, name=name, owner=owner))

    async def read_cursor(self, name: str) -> datetime | None:
        return await self._read(partial(keys.read_cursor, name=name))

    async def advance_cursor(self, name: str, to: datetime, *, lease: str, fence: Fence) -> bool:
        check_key("cursor name", name, self._traits.limits.name)
        aware(to, "to")
        if not doors.known_fence(fence):
            return False
        return await self._write(partial(keys.advance_cursor, name=name, to=to, lease=lease, fence=fence))

    def _check_key(self, scope: str, key: str, ttl: timedelta) -> None:
        check_key("scope", scope, self._traits.limits.key)
        check_key("key", key, self._traits.limits.key)
        positive(ttl, "ttl")
