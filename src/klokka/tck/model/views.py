"""What reading must show of the model."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from klokka.core.ids import JobId
from klokka.core.records import JobDetails, JobQuery, JobSummary, QueueDepth
from klokka.core.states import JobStatus
from klokka.tck.model.jobs import ModelJob
from klokka.tck.model.work import Work
from klokka.tck.violations import expect


def details(work: Work, now: datetime, seen: JobDetails | None, id: JobId) -> None:
    """One job with all that is stored of it [query.details]."""
    job = work.jobs.get(id)
    if job is None:
        expect(seen, "query.details").equals(None, "an unknown id is None")
        return
    shown = job.details()
    if seen is None:
        expect(seen, "query.details").equals(shown, "a job that is stored is known")
        return
    expect(seen.summary, *_of_state(job)).equals(
        _as_stored(job, now, seen.summary), f"job {id} as the verbs have left it"
    )
    expect((seen.lease_until, seen.holder), "transition.times", "heartbeat.quiet").equals(
        (shown.lease_until, shown.holder), "lease and holder are set in `Running` alone"
    )
    expect(seen.last_error, "transition.error").equals(shown.last_error, "the last error that was given")
    if seen.progress is not None:
        expect(seen.progress, "progress.held").equals(
            shown.progress, "the holder's last word, cleared by the next claim"
        )
    expect(replace(seen, progress=shown.progress), "query.details").equals(
        replace(shown, summary=seen.summary), f"job {id} with all that is stored of it"
    )


def counts(work: Work, seen: Mapping[JobStatus, int]) -> None:
    """Every status; the two that promotion divides are counted as one [query.counts]."""
    expect(set(seen), "query.counts").equals(set(JobStatus), "every status is present")
    planned = (JobStatus.SCHEDULED, JobStatus.ENQUEUED)
    for group in (planned, *((status,) for status in JobStatus if status not in planned)):
        number = sum(job.status in group for job in work.jobs.values())
        expect(sum(seen[status] for status in group), "query.counts").equals(number, f"jobs that are {group}")


def page(work: Work, now: datetime, seen: Sequence[JobSummary], query: JobQuery) -> None:
    """One page of a list by anything but a status that promotion decides [query.order] [query.filters] [query.page]."""
    found = [
        job
        for job in sorted(work.jobs.values(), key=lambda job: -job.id)
        if query.status in (None, job.status)
        and query.kind in (None, job.new.kind)
        and query.queue in (None, job.new.queue)
        and query.unique_key in (None, job.new.unique_key)
        and (query.before is None or job.id < query.before)
    ][query.offset : query.offset + query.limit]
    expect([summary.id for summary in seen], "query.order", "query.filters", "query.page").equals(
        [job.id for job in found], "the page of what the filters leave, newest first"
    )
    for job, summary in zip(found, seen, strict=True):
        expect(summary, "query.details").equals(_as_stored(job, now, summary), f"job {job.id} as it stands")


def depths(work: Work, now: datetime, seen: Iterable[QueueDepth]) -> None:
    """How each queue stands [query.depths]."""
    live = [job for job in work.jobs.values() if not job.terminal]
    expected = [
        _depth(queue, now, [job for job in live if job.new.queue == queue], work.paused.get(queue))
        for queue in sorted({job.new.queue for job in live} | set(work.paused))
    ]
    expect(list(seen), "query.depths").equals(expected, "every queue that has live jobs or is paused, by name")


def _depth(queue: str, now: datetime, jobs: Sequence[ModelJob], paused: str | None) -> QueueDepth:
    due = [job.due for job in jobs if job.due is not None and job.due <= now]
    running = sum(job.status is JobStatus.RUNNING and not job.claimable(now) for job in jobs)
    return QueueDepth(
        queue=queue,
        due=len(due),
        waiting=len(jobs) - len(due) - running,
        running=running,
        oldest_due=min(due, default=None),
        paused=paused,
    )


def _as_stored(job: ModelJob, now: datetime, seen: JobSummary) -> JobSummary:
    status = seen.status if seen.status in job.statuses(now) else job.status
    return replace(job.summary(), status=status)


def _of_state(job: ModelJob) -> tuple[str, ...]:
    """What a wrong summary breaks."""
    if job.status is JobStatus.RUNNING:
        return "claim.attempt", "query.details"
    return "transition.times", "transition.restart", "transition.refund", "query.details"
