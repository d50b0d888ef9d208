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

_FILTERS: Final = ("status", "kind", "queue", "unique_key", "schedule_id")


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
        for name in _FILTERS:
            value: str | None = getattr(query, name)
            if value is not None:
                parameters.append(value)
                terms.append(f"{name} = ${len(parameters)}::text")
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
