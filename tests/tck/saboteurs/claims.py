"""Saboteurs of claim and heartbeat."""

import asyncio
import heapq
from collections.abc import Collection, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from klokka.core.ids import Fence, JobId, WorkerId
from klokka.core.records import ClaimedJob
from klokka.core.states import JobStatus
from klokka.stores.memory.rows import JobRow
from klokka.stores.memory.store import MemoryStore
from tests.tck.saboteurs.registry import breaks

SECOND = timedelta(seconds=1)


@breaks("claim.exclusive")
class GivesRunningJobsAgain(MemoryStore):
    def _claimable(self, queue: str, kinds: Collection[str], now: datetime) -> Iterator[JobRow]:
        for row in self._data.table.rows.values():
            if row.status is JobStatus.RUNNING and row.new.queue == queue and row.new.kind in kinds:
                yield row
        yield from super()._claimable(queue, kinds, now)


@breaks("claim.exclusive")
class LooksFirstAndClaimsLater(MemoryStore):
    async def claim(self, **arguments: Any) -> list[ClaimedJob]:
        free = [row for row in self._data.table.rows.values() if row.due() is not None]
        await asyncio.sleep(0.001)
        for row in free:
            row.status = JobStatus.ENQUEUED
            self._data.table.moved(row)
        return await super().claim(**arguments)


@breaks("claim.due")
class IsASecondEarly(MemoryStore):
    def _claimable(self, queue: str, kinds: Collection[str], now: datetime) -> Iterator[JobRow]:
        return super()._claimable(queue, kinds, now + SECOND)


@breaks("claim.due")
class IsAMicrosecondLate(MemoryStore):
    def _claimable(self, queue: str, kinds: Collection[str], now: datetime) -> Iterator[JobRow]:
        return super()._claimable(queue, kinds, now - timedelta(microseconds=1))


@breaks("claim.expired")
class NeverTakesOver(MemoryStore):
    def _claimable(self, queue: str, kinds: Collection[str], now: datetime) -> Iterator[JobRow]:
        for _, job in heapq.merge(*(line.waiting.until(now) for line in self._data.table.lines(queue, kinds))):
            yield self._data.table.rows[job]


@breaks("claim.queue-order")
class ScansQueuesBackwards(MemoryStore):
    async def claim(self, **arguments: Any) -> list[ClaimedJob]:
        return await super().claim(**{**arguments, "queues": arguments["queues"][::-1]})


@breaks("claim.order")
class AnswersInAnyOrder(MemoryStore):
    async def claim(self, **arguments: Any) -> list[ClaimedJob]:
        return sorted(await super().claim(**arguments), key=lambda job: job.id)


@breaks("claim.order")
class PutsEndedLeasesLast(MemoryStore):
    def _claimable(self, queue: str, kinds: Collection[str], now: datetime) -> Iterator[JobRow]:
        lines = self._data.table.lines(queue, kinds)
        for _, job in heapq.merge(*(line.waiting.until(now) for line in lines)):
            yield self._data.table.rows[job]
        yield from super()._claimable(queue, kinds, now)


@breaks("claim.exact")
class HoldsOneBack(MemoryStore):
    async def claim(self, **arguments: Any) -> list[ClaimedJob]:
        limit = arguments["limit"]
        return await super().claim(**{**arguments, "limit": limit - 1 if limit > 1 else limit})


@breaks("claim.kinds")
class MatchesKindsByPrefix(MemoryStore):
    async def claim(self, **arguments: Any) -> list[ClaimedJob]:
        known = {row.new.kind for row in self._data.table.rows.values()}
        kinds = {kind for kind in known for wanted in arguments["kinds"] if kind.startswith(wanted)}
        return await super().claim(**{**arguments, "kinds": kinds})


@breaks("claim.kinds-empty")
class TakesNoKindsForAny(MemoryStore):
    async def claim(self, **arguments: Any) -> list[ClaimedJob]:
        kinds = arguments["kinds"] or {row.new.kind for row in self._data.table.rows.values()}
        return await super().claim(**{**arguments, "kinds": kinds})


@breaks("claim.limit")
class GivesOneMore(MemoryStore):
    async def claim(self, **arguments: Any) -> list[ClaimedJob]:
        return await super().claim(**{**arguments, "limit": arguments["limit"] + 1})


@breaks("claim.caps")
class IgnoresCaps(MemoryStore):
    async def claim(self, **arguments: Any) -> list[ClaimedJob]:
        return await super().claim(**{**arguments, "caps": {}})


@breaks("claim.attempt")
class CountsFailuresAlone(MemoryStore):
    def _take(self, row: JobRow, worker: WorkerId, until: datetime) -> ClaimedJob:
        if row.status is JobStatus.RUNNING:
            row.attempt -= 1
        return super()._take(row, worker, until)


@breaks("claim.lapses")
class CountsNoLapses(MemoryStore):
    def _take(self, row: JobRow, worker: WorkerId, until: datetime) -> ClaimedJob:
        if row.status is JobStatus.RUNNING:
            row.lapses -= 1
        return super()._take(row, worker, until)


@breaks("claim.fence")
class TakesTheAttemptForTheFence(MemoryStore):
    def _take(self, row: JobRow, worker: WorkerId, until: datetime) -> ClaimedJob:
        row.fence = Fence(row.attempt)
        return super()._take(row, worker, until)


@breaks("claim.lease")
class LeasesForTwiceAsLong(MemoryStore):
    async def claim(self, **arguments: Any) -> list[ClaimedJob]:
        return await super().claim(**{**arguments, "lease": arguments["lease"] * 2})


@breaks("claim.scheduled-for")
class MovesWhatAJobWasMeantFor(MemoryStore):
    def _take(self, row: JobRow, worker: WorkerId, until: datetime) -> ClaimedJob:
        row.scheduled_for = row.due() or row.scheduled_for
        return super()._take(row, worker, until)


@breaks("claim.wait-free")
class HidesWhatACancelledClaimTook(MemoryStore):
    async def claim(self, **arguments: Any) -> list[ClaimedJob]:
        jobs = await super().claim(**{**arguments, "lease": timedelta(days=3650)})
        await asyncio.sleep(0)
        for job in jobs:
            row = self._data.table.rows[job.id]
            row.lease_until = self._data.clock() + arguments["lease"]
            self._data.table.moved(row)
        return jobs


@breaks("claim.next-due")
class ForgetsTheEndsOfLeases(MemoryStore):
    async def next_due(self, **arguments: Any) -> datetime | None:
        lines = [line for queue in arguments["queues"] for line in self._data.table.lines(queue, arguments["kinds"])]
        heads = [line.waiting.head() for line in lines]
        return min((head[0] for head in heads if head is not None), default=None)


@breaks("heartbeat.extends")
class MakesLeasesShorter(MemoryStore):
    async def heartbeat(self, held: Mapping[JobId, Fence], *, worker: WorkerId, extend: timedelta) -> set[JobId]:
        still_held = await super().heartbeat(held, worker=worker, extend=extend)
        for job in still_held:
            self._data.table.rows[job].lease_until = self._data.clock() + extend
        return still_held


@breaks("heartbeat.held")
class RevivesEndedLeases(MemoryStore):
    async def heartbeat(self, held: Mapping[JobId, Fence], *, worker: WorkerId, extend: timedelta) -> set[JobId]:
        for job, fence in held.items():
            row = self._data.table.running(job)
            if row is not None and (row.fence, row.holder) == (fence, worker):
                row.lease_until = self._data.clock() + extend
        return await super().heartbeat(held, worker=worker, extend=extend)


@breaks("heartbeat.held")
class AcceptsSwappedFences(MemoryStore):
    async def heartbeat(self, held: Mapping[JobId, Fence], *, worker: WorkerId, extend: timedelta) -> set[JobId]:
        rows = self._data.table.rows
        right = {job: rows[job].fence for job in held if job in rows and rows[job].fence in held.values()}
        return await super().heartbeat(right, worker=worker, extend=extend)


@breaks("heartbeat.quiet")
class CountsBeatsAsAttempts(MemoryStore):
    async def heartbeat(self, held: Mapping[JobId, Fence], *, worker: WorkerId, extend: timedelta) -> set[JobId]:
        still_held = await super().heartbeat(held, worker=worker, extend=extend)
        for job in still_held:
            self._data.table.rows[job].attempt += 1
        return still_held
