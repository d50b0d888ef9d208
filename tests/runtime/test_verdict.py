"""What follows from a run, by value alone."""

from datetime import UTC, datetime, timedelta

import pytest

from klokka.core import events
from klokka.core.headers import MAX_ATTEMPTS
from klokka.core.ids import Fence, JobId
from klokka.core.outcomes import Cancel, Snooze
from klokka.core.policies import FALLBACK, Exponential, Intervals, RetryPolicy
from klokka.core.records import NO_HEADERS, ClaimedJob
from klokka.core.states import LEGAL, DeadLettered, Enqueued, Failed, JobStatus, Move, Scheduled, Succeeded, status_of
from klokka.errors import NotRetryable, PayloadUndecodable, WorkerLost
from klokka.runtime.handlers import Executor, Handler
from klokka.runtime.job_events import ENDS, end_of
from klokka.runtime.verdict import Result, Verdict, handed_back, not_to_be_started, put_back, verdict

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)


def a_job(*, attempt: int = 1, lapses: int = 0, max_attempts: str | None = None) -> ClaimedJob:
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
    return Handler(
        kind="a",
        decode=str,
        run=lambda payload, job: None,
        executor=Executor.THREAD,
        retry=retry,
        max_lapses=max_lapses,
    )


def judged(result: Result, job: ClaimedJob | None = None, handler: Handler | None = None) -> Verdict:
    return verdict(result, job or a_job(), handler or a_handler())


@pytest.mark.parametrize(
    "made",
    [
        judged(Result()),
        judged(Result(outcome=Snooze(SECOND))),
        judged(Result(outcome=Cancel("why"))),
        judged(Result(error=ValueError())),
        judged(Result(error=NotRetryable())),
        handed_back(a_job(), unstarted=True),
        handed_back(a_job(), unstarted=False),
        put_back(a_job()),
    ],
    ids=lambda made: made.move.name,
)
def test_every_verdict_is_a_legal_move_under_the_fence(made: Verdict) -> None:
    legal = LEGAL[JobStatus.RUNNING, made.move]

    assert status_of(made.change.from_) is JobStatus.RUNNING
    assert status_of(made.change.to) is legal
    assert made.change.fence == 3


def test_what_a_handler_returns_besides_outcomes_means_done() -> None:
    made = judged(Result(outcome={"rows": 7}))  # type: ignore[arg-type]

    assert made.change.to == Succeeded()


def test_a_snooze_is_not_charged() -> None:
    made = judged(Result(outcome=Snooze(SECOND)))

    assert made.change.to == Scheduled(SECOND)
    assert made.change.refund


def test_work_handed_back_is_charged_only_if_it_was_started() -> None:
    assert handed_back(a_job(), unstarted=True).change.refund
    assert not handed_back(a_job(), unstarted=False).change.refund
    assert handed_back(a_job(), unstarted=True).change.to == Enqueued()


def test_work_put_back_is_due_when_it_was_and_not_charged() -> None:
    made = put_back(a_job())

    assert made.change.to == Scheduled(NOON)
    assert made.change.refund


def test_a_failure_waits_as_the_policy_says_and_is_given_up_when_that_ends() -> None:
    first = judged(Result(error=ValueError("no")), a_job(attempt=1))
    second = judged(Result(error=ValueError("no")), a_job(attempt=2))

    assert first.change.to == Failed(SECOND)
    assert second.change.to == DeadLettered()
    assert second.change.error is not None
    assert second.change.error.message == "no"


def test_a_jobs_own_limit_of_attempts_is_tighter_than_the_policy_and_a_malformed_one_is_none() -> None:
    tight = judged(Result(error=ValueError()), a_job(max_attempts="1"))
    malformed = judged(Result(error=ValueError()), a_job(max_attempts="many"))

    assert tight.change.to == DeadLettered()
    assert malformed.change.to == Failed(SECOND)


@pytest.mark.parametrize("error", [NotRetryable("never"), PayloadUndecodable("unknown field")])
def test_what_cannot_be_retried_goes_to_the_dead_letters_at_once(error: Exception) -> None:
    made = judged(Result(error=error), handler=a_handler(Exponential(max_attempts=100)))

    assert made.change.to == DeadLettered()


def test_attempt_400_waits_for_the_cap_and_a_policy_that_fails_strands_no_job() -> None:
    cap = timedelta(hours=6)
    capped = a_handler(Exponential(max_attempts=1000, jitter=0.0, cap=cap))
    broken = a_handler(lambda attempt, error: timedelta(seconds=1 / 0))

    assert judged(Result(error=ValueError()), a_job(attempt=400), capped).change.to == Failed(cap)
    assert judged(Result(error=ValueError()), handler=broken).change.to == Failed(FALLBACK)


def test_an_error_whose_text_fails_is_stored_all_the_same() -> None:
    class Rude(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no text for you")

    made = judged(Result(error=ExceptionGroup("two", [Rude(), ValueError("a\0b\ud800")])))

    assert made.change.error is not None
    assert "\0" not in made.change.error.traceback


def test_a_job_that_never_lapsed_is_started_whatever_its_attempt() -> None:
    assert not_to_be_started(a_job(attempt=99), a_handler()) is None


def test_lapses_beyond_the_cap_end_in_the_dead_letters_with_the_reason() -> None:
    patient = a_handler(Exponential(max_attempts=100), max_lapses=2)

    allowed = not_to_be_started(a_job(attempt=3, lapses=2), patient)
    beyond = not_to_be_started(a_job(attempt=4, lapses=3), patient)

    assert allowed is None
    assert beyond is not None
    assert beyond.change.to == DeadLettered()
    assert beyond.change.error is not None
    assert "lost with its worker 3 times" in beyond.change.error.message


def test_a_worker_lost_on_the_last_attempt_ends_the_job() -> None:
    made = not_to_be_started(a_job(attempt=3, lapses=1), a_handler(Intervals((SECOND,))))

    assert made is not None
    assert made.change.error is not None
    assert "attempt 2 was its last" in made.change.error.message


def test_each_move_that_is_told_has_its_event() -> None:
    results = {
        Move.SUCCEEDED: Result(),
        Move.SNOOZED: Result(outcome=Snooze(SECOND)),
        Move.CANCELLED: Result(outcome=Cancel("why")),
        Move.RETRY_BOOKED: Result(error=ValueError()),
        Move.GIVEN_UP: Result(error=NotRetryable()),
    }

    told = {move: end_of(judged(result), a_job(), 2.0) for move, result in results.items()}

    assert {move: type(event) for move, event in told.items()} == ENDS
    assert all(isinstance(event, events.Ended) and event.ran == timedelta(seconds=2) for event in told.values())
    assert end_of(handed_back(a_job(), unstarted=True), a_job(), 0.0) is None


def test_the_reason_of_lost_workers_can_be_caught_by_policies() -> None:
    seen: list[BaseException] = []

    def policy(attempt: int, error: BaseException) -> timedelta:
        seen.append(error)
        return SECOND

    assert not_to_be_started(a_job(attempt=2, lapses=1), a_handler(policy)) is None
    assert [type(error) for error in seen] == [WorkerLost]
