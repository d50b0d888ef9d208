"""Looking without touching."""

from collections import Counter
from collections.abc import Mapping
from datetime import datetime

from klokka.core.ids import JobId
from klokka.core.records import JobDetails, JobQuery, JobSummary, QueueDepth
from klokka.core.schedule_records import ScheduleRow
from klokka.core.states import JobStatus
from klokka.errors import InvalidInput
from klokka.stores.memory.handle import Handle
from klokka.stores.memory.rows import JobRow


class Querying(Handle):
    """Implements `QueryableStore`."""

    async def counts_by_status(self) -> Mapping[JobStatus, int]:
        with self._statement():
            counts = Counter(row.status for row in self._data.table.rows.values())
        return {status: counts[status] for status in JobStatus}

    async def get_job(self, id: JobId) -> JobDetails | None:
        with self._statement():
            row = self._data.table.rows.get(id)
            return None if row is None else row.details()

    async def list_jobs(self, query: JobQuery) -> list[JobSummary]:
        if query.limit < 0 or query.offset < 0:
            raise InvalidInput(f"limit and offset must be zero or more, not {query.limit} and {query.offset}.")
        with self._statement():
            rows = [row for row in self._data.table.rows.values() if matches(row, query)]
            rows.sort(key=lambda row: row.id, reverse=True)
            return [row.summary() for row in rows[query.offset : query.offset + query.limit]]

    async def list_schedules(self) -> list[ScheduleRow]:
        with self._statement():
            return [state.row() for _, state in sorted(self._data.schedules.items())]

    async def queue_depths(self) -> list[QueueDepth]:
        with self._statement() as now:
            live: dict[str, list[JobRow]] = {queue: [] for queue in self._data.paused}
            for row in self._data.table.rows.values():
                if not row.terminal:
                    live.setdefault(row.new.queue, []).append(row)
            return [depth(queue, rows, now, self._data.paused.get(queue)) for queue, rows in sorted(live.items())]


def matches(row: JobRow, query: JobQuery) -> bool:
    """Whether the row is in the filtered set; None means any [query.filters]."""
    return (
        query.status in (None, row.status)
        and query.kind in (None, row.new.kind)
        and query.queue in (None, row.new.queue)
        and query.unique_key in (None, row.new.unique_key)
        and query.schedule_id in (None, row.new.schedule_id)
        and (query.before is None or row.id < query.before)
    )


def depth(queue: str, live: list[JobRow], now: datetime, paused: str | None) -> QueueDepth:
    """How the queue stands. An ended lease is due since its end [query.depths]."""
    running = [row for row in live if row.lease_until is not None and row.lease_until > now]
    times = [time for row in live if (time := row.due() or row.lease_until) is not None]
    due = [time for time in times if time <= now]
    return QueueDepth(
        queue=queue,
        due=len(due),
        waiting=len(live) - len(due) - len(running),
        running=len(running),
        oldest_due=min(due, default=None),
        paused=paused,
    )
