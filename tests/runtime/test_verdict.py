"""What follows from a run, by value alone."""

from datetime import timedelta

import pytest

from klokka.core.outcomes import Cancel, Snooze
from klokka.core.policies import FALLBACK, Exponential, Intervals
from klokka.core.states import LEGAL, DeadLettered, Enqueued, Failed, JobStatus, Scheduled, Succeeded, status_of
from klokka.errors import NotRetryable, PayloadUndecodable, WorkerLost
from klokka.runtime.verdict import Result, Verdict, handed_back, not_to_be_started, put_back
from tests.support.verdicts import NOON, SECOND, a_handler, a_job, judged


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


def test_the_reason_of_lost_workers_can_be_caught_by_policies() -> None:
    seen: list[BaseException] = []

    def policy(attempt: int, error: BaseException) -> timedelta:
        seen.append(error)
        return SECOND

    assert not_to_be_started(a_job(attempt=2, lapses=1), a_handler(policy)) is None
    assert [type(error) for error in seen] == [WorkerLost]
