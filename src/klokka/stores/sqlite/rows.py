"""Rows into records, each once."""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from klokka.core.ids import Fence, JobId
from klokka.core.instants import instant
from klokka.core.records import NO_HEADERS, ClaimedJob, JobDetails, JobError, JobSummary, QueueDepth
from klokka.core.schedule_records import ScheduleRow
from klokka.core.states import JobStatus
from klokka.core.worker_records import WorkerBeat, WorkerRow

Row = tuple[Any, ...]


def claimed_job(row: Row, until: datetime) -> ClaimedJob:
    """A row of claimable_due or claimable_ended, as it is after claim_jobs."""
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
        fence,
        key,
        schedule,
        headers,
        _,
        lapsed,
    ) = row
    enqueued_at = instant(enqueued)
    return ClaimedJob(
        id=job,
        kind=kind,
        payload=payload,
        payload_version=version,
        queue=queue,
        attempt=attempt + 1,
        lapses=lapses + lapsed,
        enqueued_at=enqueued_at,
        scheduled_for=enqueued_at if scheduled == enqueued else instant(scheduled),
        lease_until=until,
        fence=Fence(fence + 1),
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
        run_at=instant(run),
        enqueued_at=instant(enqueued),
        schedule_id=schedule,
        retry_at=maybe(due) if status == "failed" else None,
        terminal_at=maybe(terminal),
    )


def job_details(row: Row) -> JobDetails:
    """A row of get_job."""
    payload, version, key, scheduled, fence, lapses, lease, holder, progress, headers = row[10:20]
    error_type, message, traceback, attempt, at = row[20:]
    error = None
    if error_type is not None:
        error = JobError(type=error_type, message=message, traceback=traceback, attempt=attempt, at=maybe(at))
    return JobDetails(
        summary=job_summary(row[:10]),
        payload=payload,
        payload_version=version,
        unique_key=key,
        scheduled_for=instant(scheduled),
        fence=Fence(fence),
        lapses=lapses,
        lease_until=maybe(lease),
        holder=holder,
        last_error=error,
        progress=progress,
        headers=_headers(headers),
    )


def schedule_row(row: Row) -> ScheduleRow:
    """A row of list_schedules."""
    name, kind, fingerprint, description, next_fire, last_fired, lease, fence, paused = row
    return ScheduleRow(
        id=name,
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
    name, host, pid, version, queues, kinds, schedules, slots, busy, started, last, live = row
    beat = WorkerBeat(
        id=name,
        host=host,
        pid=pid,
        version=version,
        queues=tuple(json.loads(queues)),
        kinds=tuple(json.loads(kinds)),
        schedules=tuple(json.loads(schedules)),
        slots=slots,
        busy=busy,
    )
    return WorkerRow(beat=beat, started_at=instant(started), last_beat=instant(last), live=bool(live))


def maybe(at: int | None) -> datetime | None:
    """An instant where there is one."""
    return None if at is None else instant(at)


def _headers(text: str | None) -> Mapping[str, str]:
    return NO_HEADERS if text is None else json.loads(text)
