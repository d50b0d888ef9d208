"""Looking: lists, counts and depths for people."""

from collections.abc import Mapping
from typing import Final

from klokka.core.ids import MAX_ID, JobId
from klokka.core.records import JobDetails, JobQuery, JobSummary, QueueDepth
from klokka.core.schedule_records import ScheduleRow
from klokka.core.states import JobStatus
from klokka.stores._doors import check_query, known_id
from klokka.stores.postgres.handle import Handle
from klokka.stores.postgres.rows import job_details, job_summary, queue_depth, schedule_row

_FILTERS: Final = {
    "status": "status = {}::text",
    "kind": "kind = {}::text",
    "queue": "queue = {}::text",
    # Keys of live and of ended jobs stand in two indexes, so that finding a live holder never reads what has ended.
    "unique_key": "unique_key = {}::text and (terminal_at is null or terminal_at is not null)",
    "schedule_id": "schedule_id = {}::text",
}


class Querying(Handle):
    """Implements `QueryableStore`."""

    async def counts_by_status(self) -> Mapping[JobStatus, int]:
        rows = await self._database.look(self._setting.schema.sql("counts_by_status"))
        return dict.fromkeys(JobStatus, 0) | {JobStatus(status): count for status, count in rows}

    async def get_job(self, id: JobId) -> JobDetails | None:
        rows = await self._database.read("get_job", str(id)) if known_id(id) else []
        return job_details(rows[0]) if rows else None

    async def list_jobs(self, query: JobQuery) -> list[JobSummary]:
        check_query(query)
        parameters = [str(min(query.limit, MAX_ID)), str(min(query.offset, MAX_ID))]
        terms: list[str] = []
        for name, term in _FILTERS.items():
            value: str | None = getattr(query, name)
            if value is not None:
                parameters.append(value)
                terms.append(term.format(f"${len(parameters)}"))
        if query.before is not None:
            parameters.append(str(max(0, min(query.before, MAX_ID))))
            terms.append(f"id < ${len(parameters)}::text::bigint")
        sql = self._setting.schema.sql("list_jobs")
        if terms:
            sql = sql.replace(b"where true", f"where {' and '.join(terms)}".encode())
        return [job_summary(row) for row in await self._database.look(sql, *parameters)]

    async def list_schedules(self) -> list[ScheduleRow]:
        return [schedule_row(row) for row in await self._database.read("list_schedules")]

    async def queue_depths(self) -> list[QueueDepth]:
        return [queue_depth(row) for row in await self._database.look(self._setting.schema.sql("queue_depths"))]
