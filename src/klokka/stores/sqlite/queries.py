"""Looking: lists, counts and depths for people."""

from functools import lru_cache
from typing import Any, Final

from klokka.core.ids import MAX_ID, JobId
from klokka.core.records import JobDetails, JobQuery, JobSummary, QueueDepth
from klokka.core.schedule_records import ScheduleRow
from klokka.core.states import JobStatus
from klokka.stores._sql.statements import statement
from klokka.stores.sqlite.rows import job_details, job_summary, queue_depth, schedule_row
from klokka.stores.sqlite.transaction import Transaction

_COUNTS: Final = statement("klokka.stores.sqlite", "counts_by_status")
_GET_JOB: Final = statement("klokka.stores.sqlite", "get_job")
_LIST_JOBS: Final = statement("klokka.stores.sqlite", "list_jobs")
_LIST_SCHEDULES: Final = statement("klokka.stores.sqlite", "list_schedules")
_DEPTHS: Final = statement("klokka.stores.sqlite", "queue_depths")

_TERMS: Final = {
    "status": "status = :status",
    "kind": "kind = :kind",
    "queue": "queue = :queue",
    "unique_key": "unique_key = :unique_key",
    "schedule_id": "schedule_id = :schedule_id",
    "before": "id < :before",
}


def counts_by_status(tx: Transaction) -> dict[JobStatus, int]:
    """How many jobs stand in each status, all statuses present."""
    return dict.fromkeys(JobStatus, 0) | {JobStatus(status): count for status, count in tx.execute(_COUNTS)}


def get_job(tx: Transaction, id: JobId) -> JobDetails | None:
    """All that is known of a job."""
    row = tx.execute(_GET_JOB, (id,)).fetchone()
    return None if row is None else job_details(row)


def list_jobs(tx: Transaction, query: JobQuery) -> list[JobSummary]:
    """One page, newest first."""
    values: dict[str, Any] = {name: value for name in _TERMS if (value := getattr(query, name)) is not None}
    if query.status is not None:
        values["status"] = query.status.value
    if query.before is not None:
        values["before"] = max(0, min(query.before, MAX_ID))
    page = {"limit": min(query.limit, MAX_ID), "offset": min(query.offset, MAX_ID)}
    return [job_summary(row) for row in tx.execute(listing(tuple(values)), values | page)]


@lru_cache(maxsize=64)
def listing(filters: tuple[str, ...]) -> str:
    """The statement for these filters."""
    if not filters:
        return _LIST_JOBS
    return _LIST_JOBS.replace("where true", "where " + " and ".join(_TERMS[name] for name in filters))


def list_schedules(tx: Transaction) -> list[ScheduleRow]:
    """Every schedule, by id."""
    return [schedule_row(row) for row in tx.execute(_LIST_SCHEDULES)]


def queue_depths(tx: Transaction) -> list[QueueDepth]:
    """Every queue with live jobs or a pause, by name."""
    return [queue_depth(row) for row in tx.execute(_DEPTHS, (tx.now(),))]
