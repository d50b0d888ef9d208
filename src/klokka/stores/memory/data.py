"""All that handles of one memory store share."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Protocol

from klokka.core.clocks import Clock
from klokka.core.ids import Fence, JobId, KeyToken, ScheduleId, WorkerId
from klokka.core.records import EnqueueResult, NewJob
from klokka.core.worker_records import WorkerBeat
from klokka.stores.memory.bell import Bell
from klokka.stores.memory.rows import JobRow, ScheduleState, frozen_headers, planned
from klokka.stores.memory.table import JobTable


class KeyReserved(Exception):
    """A unique key belongs to a transaction that is still open, so nobody knows yet who holds it."""


class Owner(Protocol):
    """A transaction that has reserved keys for jobs that are not committed yet."""

    def pending(self, key: str) -> JobId | None: ...


@dataclass(slots=True, kw_only=True)
class IdempotencyRecord:
    """Who claimed a key, and until when."""

    token: KeyToken
    until: datetime


@dataclass(slots=True, kw_only=True)
class Lease:
    """A named lease. The row stays after its end, since the fence must not restart [lease.one]."""

    owner: str
    until: datetime
    fence: Fence


@dataclass(slots=True, kw_only=True)
class Worker:
    """A worker, from its first beat to its last."""

    beat: WorkerBeat
    started_at: datetime
    last_beat: datetime
    live_until: datetime


@dataclass(slots=True, kw_only=True)
class MemoryData:
    """The tables and the one lock. Nothing here is read or changed without the lock."""

    clock: Clock
    bound: timedelta
    lock: threading.RLock = field(default_factory=threading.RLock)
    table: JobTable = field(default_factory=JobTable)
    reserved: dict[str, Owner] = field(default_factory=dict[str, Owner])
    schedules: dict[ScheduleId, ScheduleState] = field(default_factory=dict[ScheduleId, ScheduleState])
    paused: dict[str, str] = field(default_factory=dict[str, str])
    workers: dict[WorkerId, Worker] = field(default_factory=dict[WorkerId, Worker])
    records: dict[tuple[str, str], IdempotencyRecord] = field(default_factory=dict[tuple[str, str], IdempotencyRecord])
    leases: dict[str, Lease] = field(default_factory=dict[str, Lease])
    cursors: dict[str, datetime] = field(default_factory=dict[str, datetime])
    work: Bell = field(default_factory=Bell)
    """Rings when work may be ready [wakeups.commit]."""
    settled: Bell = field(default_factory=Bell)
    """Rings when a transaction gives up its reserved keys, by commit or rollback."""
    last_id: int = 0

    def holder(self, key: str, owner: Owner | None = None) -> JobId | None:
        """The job that holds the key now, as `owner` sees it.

        Raises:
            KeyReserved: that is not decided yet.
        """
        reserved_by = self.reserved.get(key)
        if reserved_by is None:
            return self.table.key_holders.get(key)
        if reserved_by is not owner:
            raise KeyReserved(key)
        return reserved_by.pending(key)

    def insert(self, jobs: Sequence[NewJob], now: datetime) -> list[EnqueueResult]:
        """Stores the jobs that no key leads to another one, and rings if there are any."""
        results = self.place(jobs, now, self.table.add)
        if any(result.created for result in results):
            self.work.ring()
        return results

    def place(
        self, jobs: Sequence[NewJob], now: datetime, add: Callable[[JobRow], None], owner: Owner | None = None
    ) -> list[EnqueueResult]:
        """Gives each job its id and hands it to `add`, unless its key is held [enqueue.unique] [enqueue.unique-batch].

        All that can be refused is looked at before the first is added, so that all are placed or none.
        """
        plans = [planned(job, now) for job in jobs]
        for job in jobs:
            if job.unique_key is not None:
                self.holder(job.unique_key, owner)
        results: list[EnqueueResult] = []
        for job, run_at in zip(jobs, plans, strict=True):
            holder = None if job.unique_key is None else self.holder(job.unique_key, owner)
            if holder is None:
                self.last_id += 1
                headers = frozen_headers(job)
                new = job if headers is None else replace(job, headers=headers)
                add(JobRow.born(JobId(self.last_id), new, run_at, now))
                results.append(EnqueueResult(id=JobId(self.last_id), created=True))
            else:
                results.append(EnqueueResult(id=holder, created=False))
        return results
