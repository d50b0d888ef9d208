"""claim, next_due and heartbeat: who may hold a job, and for how long."""

import heapq
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import chain, islice

from klokka.core.ids import MAX_ID, Fence, JobId, WorkerId
from klokka.core.instants import after, positive
from klokka.core.records import ClaimedJob
from klokka.core.states import JobStatus
from klokka.errors import InvalidInput
from klokka.spi.jobs import NO_CAPS
from klokka.stores.memory.handle import Handle
from klokka.stores.memory.rows import JobRow


class Claiming(Handle):
    """Implements the verbs of `JobVerbs` that give and keep leases."""

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
        if limit < 0 or any(cap < 0 for cap in caps.values()):
            raise InvalidInput(f"limit and caps must be zero or more, not {limit} and {dict(caps)}.")
        positive(lease, "lease")
        wanted = frozenset(kinds)
        claimed: list[ClaimedJob] = []
        with self._statement() as now:
            until = after(now, lease, "lease")
            for queue in dict.fromkeys(queues):
                room = limit - len(claimed)
                rows = islice(self._claimable(queue, wanted, now), min(room, caps.get(queue, room), MAX_ID))
                claimed.extend(self._take(row, worker, until) for row in rows)
        return claimed

    def _claimable(self, queue: str, kinds: Collection[str], now: datetime) -> Iterator[JobRow]:
        """Due jobs of the queue in the order of the contract. Each must be taken before the next is asked for."""
        if queue in self._data.paused:
            return
        lines = self._data.table.lines(queue, kinds)
        ended = heapq.merge(*(line.leased.until(now) for line in lines))
        due = heapq.merge(*(line.waiting.until(now) for line in lines))
        for _, job in chain(ended, due):
            yield self._data.table.rows[job]

    def _take(self, row: JobRow, worker: WorkerId, until: datetime) -> ClaimedJob:
        if row.status is JobStatus.RUNNING:
            row.lapses += 1
        row.status = JobStatus.RUNNING
        row.attempt += 1
        row.fence = Fence(row.fence + 1)
        row.holder = worker
        row.lease_until = until
        row.retry_at = None
        row.progress = None
        self._data.table.moved(row)
        return row.claimed(until)

    async def next_due(self, *, queues: Sequence[str], kinds: Collection[str]) -> datetime | None:
        wanted = frozenset(kinds)
        with self._statement():
            times = [
                line.next_due()
                for queue in queues
                if queue not in self._data.paused
                for line in self._data.table.lines(queue, wanted)
            ]
        return min((time for time in times if time is not None), default=None)

    async def heartbeat(self, held: Mapping[JobId, Fence], *, worker: WorkerId, extend: timedelta) -> set[JobId]:
        positive(extend, "extend")
        still_held: set[JobId] = set()
        with self._statement() as now:
            until = after(now, extend, "extend")
            for job, fence in held.items():
                row = self._data.table.running(job)
                if row is None or row.lease_until is None or row.lease_until <= now:
                    continue
                if row.fence == fence and row.holder == worker:
                    row.lease_until = max(row.lease_until, until)
                    self._data.table.moved(row)
                    still_held.add(job)
        return still_held
