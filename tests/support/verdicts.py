"""A claimed job, its handler and what becomes of it, by value alone."""

from datetime import UTC, datetime, timedelta

from klokka.core.headers import MAX_ATTEMPTS
from klokka.core.ids import Fence, JobId
from klokka.core.policies import Intervals, RetryPolicy
from klokka.core.records import NO_HEADERS, ClaimedJob
from klokka.runtime.handlers import Executor, Handler
from klokka.runtime.verdict import Result, Verdict, verdict

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)


def a_job(*, attempt: int = 1, lapses: int = 0, max_attempts: str | None = None) -> ClaimedJob:
    """A claim at noon."""
    return ClaimedJob(
        id=JobId(7),
        kind="a",
        payload="{}",
        payload_version=1,
        queue="default",
        attempt=attempt,
        lapses=lapses,
        enqueued_at=NOON,
        scheduled_for=NOON,
        lease_until=NOON,
        fence=Fence(3),
        unique_key=None,
        schedule_id=None,
        headers=NO_HEADERS if max_attempts is None else {MAX_ATTEMPTS: max_attempts},
    )


ONE_RETRY = Intervals((SECOND,))


def a_handler(retry: RetryPolicy = ONE_RETRY, max_lapses: int = 3) -> Handler:
    """How it is run."""
    return Handler(
        kind="a",
        decode=str,
        run=lambda payload, job: None,
        executor=Executor.THREAD,
        retry=retry,
        max_lapses=max_lapses,
    )


def judged(result: Result, job: ClaimedJob | None = None, handler: Handler | None = None) -> Verdict:
    """What becomes of it."""
    return verdict(result, job or a_job(), handler or a_handler())
