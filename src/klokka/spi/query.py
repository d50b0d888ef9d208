"""The capability of looking: for people, the dashboard and the command line."""

from collections.abc import Mapping
from typing import Protocol, runtime_checkable

from klokka.core.ids import JobId
from klokka.core.records import JobDetails, JobQuery, JobSummary, QueueDepth
from klokka.core.schedule_records import ScheduleRow
from klokka.core.states import JobStatus


@runtime_checkable
class QueryableStore(Protocol):
    """A store that can be read. [query.pure] Reading locks and changes nothing."""

    async def counts_by_status(self) -> Mapping[JobStatus, int]:
        """How many jobs stand in each status, every status present [query.counts]."""
        ...

    async def get_job(self, id: JobId) -> JobDetails | None:
        """All that is known of one job; None if it is unknown or swept [query.details]."""
        ...

    async def list_jobs(self, query: JobQuery) -> list[JobSummary]:
        """One page of jobs.

        [query.order] Most recently persisted first, which is by id, descending.
        [query.filters] A filter of None means any; several are joined by and.
        [query.page] `limit` and `offset` page the filtered set; `before` goes on behind an id, without gap or repeat
        while rows come and go. A negative number is an error.
        """
        ...

    async def list_schedules(self) -> list[ScheduleRow]:
        """Every schedule with its next and last fire, by id [query.schedules]."""
        ...

    async def queue_depths(self) -> list[QueueDepth]:
        """Every queue that has live jobs or is paused, by name [query.depths]."""
        ...
