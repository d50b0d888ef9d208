"""Rows into records, each once."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from klokka.core.ids import Fence, JobId
from klokka.core.records import NO_HEADERS, ClaimedJob, JobDetails, JobError, JobSummary, QueueDepth
from klokka.core.schedule_records import ScheduleFire, ScheduleRow
from klokka.core.states import JobStatus
from klokka.core.worker_records import WorkerBeat, WorkerRow
from klokka.stores.postgres.link import Row


def utc(at: datetime) -> datetime:
    """The instant in UTC. Sessions are in UTC, unless a pooler keeps its own idea of their zone [time.aware]."""
    return at if at.tzinfo is UTC else at.astimezone(UTC)


def maybe(at: datetime | None) -> datetime | None:
    """An instant where there is one."""
    return None if at is None else utc(at)


def claimed_jobs(rows: Sequence[Row]) -> tuple[list[ClaimedJob], Sequence[Any] | None]:
    """The rows of claim_jobs, in the order that the first of them gives [claim.order], and what else it tells."""
    first = rows[0]
    order, told = first[-2:]
    if len(rows) == 1:
        return [_claimed_job(first)] if order else [], told
    by_id = {row[0]: row for row in rows}
    return [_claimed_job(by_id[job]) for job in order], told


def _claimed_job(row: Row) -> ClaimedJob:
    (
        job,
        kind,
        payload,
        version,
        queue,
        attempt,
        lapses,
        enqueued,
        scheduled,
        lease,
        fence,
        key,
        schedule,
        headers,
        _,
        _,
    ) = row
    return ClaimedJob(
        id=job,
        kind=kind,
        payload=payload,
        payload_version=version,
        queue=queue,
        attempt=attempt,
        lapses=lapses,
        enqueued_at=utc(enqueued),
        scheduled_for=utc(scheduled),
        lease_until=utc(lease),
        fence=fence,
        unique_key=key,
        schedule_id=schedule,
        headers=_headers(headers),
    )


def job_summary(row: Row) -> JobSummary:
    """A row of list_jobs. A booked retry stands in `due_at` as every wait does."""
    job, kind, queue, status, attempt, run, enqueued, schedule, due, terminal = row
    return JobSummary(
        id=JobId(job),
        kind=kind,
        queue=queue,
        status=JobStatus(status),
        attempt=attempt,
        run_at=utc(run),
        enqueued_at=utc(enqueued),
        schedule_id=schedule,
        retry_at=maybe(due) if status == "failed" else None,
        terminal_at=maybe(terminal),
    )


def job_details(row: Row) -> JobDetails:
    """A row of get_job."""
    payload, version, key, scheduled, fence, lapses, lease, holder, progress, headers = row[10:20]
    sort, message, traceback, attempt, at = row[20:]
    error = (
        JobError(type=sort, message=message, traceback=traceback, attempt=attempt, at=maybe(at))
        if sort is not None
        else None
    )
    return JobDetails(
        summary=job_summary(row[:10]),
        payload=payload,
        payload_version=version,
        unique_key=key,
        scheduled_for=utc(scheduled),
        fence=Fence(fence),
        lapses=lapses,
        lease_until=maybe(lease),
        holder=holder,
        last_error=error,
        progress=progress,
        headers=_headers(headers),
    )


def schedule_fire(row: Row) -> ScheduleFire:
    """A row of due_schedules."""
    schedule, fingerprint, next_fire, now, fence = row
    return ScheduleFire(
        schedule_id=schedule, fingerprint=fingerprint, scheduled_for=utc(next_fire), now=utc(now), fence=Fence(fence)
    )


def schedule_row(row: Row) -> ScheduleRow:
    """A row of list_schedules."""
    schedule, kind, fingerprint, description, next_fire, last_fired, lease, fence, paused = row
    return ScheduleRow(
        id=schedule,
        kind=kind,
        fingerprint=fingerprint,
        description=description,
        next_fire_at=maybe(next_fire),
        last_fired_at=maybe(last_fired),
        lease_until=maybe(lease),
        fence=Fence(fence),
        paused=paused,
    )


def queue_depth(row: Row) -> QueueDepth:
    """A row of queue_depths."""
    queue, due, waiting, running, oldest, paused = row
    return QueueDepth(queue=queue, due=due, waiting=waiting, running=running, oldest_due=maybe(oldest), paused=paused)


def worker_row(row: Row) -> WorkerRow:
    """A row of workers."""
    worker, host, pid, version, queues, kinds, schedules, slots, busy, started, last, live = row
    beat = WorkerBeat(
        id=worker,
        host=host,
        pid=pid,
        version=version,
        queues=tuple(queues),
        kinds=tuple(kinds),
        schedules=tuple(schedules),
        slots=slots,
        busy=busy,
    )
    return WorkerRow(beat=beat, started_at=utc(started), last_beat=utc(last), live=live)


def _headers(text: str | None) -> Mapping[str, str]:
    return NO_HEADERS if text is None else json.loads(text)
