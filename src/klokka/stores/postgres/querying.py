"""Looking: lists, counts and depths for people."""

from collections.abc import Mapping

from klokka.core.ids import JobId
from klokka.core.records import JobDetails, JobQuery, JobSummary, QueueDepth
from klokka.core.schedule_records import ScheduleRow
from klokka.core.states import JobStatus
from klokka.stores._doors import check_query, known_id
from klokka.stores.postgres.handle import Handle
from klokka.stores.postgres.listing import Listing
from klokka.stores.postgres.rows import job_details, job_summary, queue_depth, schedule_row


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
        listing = Listing(query, self._setting.schema)
        if listing.any:
            rows = await self._database.ask(listing.whole(), *listing.parameters)
        elif listing.indexed:
            rows = await self._database.look(listing.whole(), *listing.parameters)
        else:
            rows = await self._database.ask(listing.newest(), *listing.parameters)
            if len(rows) < query.limit and listing.in_lines:
                rows = await self._database.ask(listing.by_lines(), *listing.parameters)
            elif len(rows) < query.limit:
                rows = await self._database.look(listing.whole(), *listing.parameters)
        return [job_summary(row) for row in rows]

    async def list_schedules(self) -> list[ScheduleRow]:
        return [schedule_row(row) for row in await self._database.read("list_schedules")]

    async def queue_depths(self) -> list[QueueDepth]:
        return [queue_depth(row) for row in await self._database.look(self._setting.schema.sql("queue_depths"))]
