"""When to try again."""

from datetime import timedelta
from typing import Any

import pytest

from klokka.core.policies import FALLBACK, MAX_WAIT, NextTry, exponential, intervals, next_try
from klokka.errors import InvalidInput, NotRetryable

SECOND = timedelta(seconds=1)
BOOM = ValueError("boom")


def test_waits_grow_by_the_factor_up_to_the_cap() -> None:
    policy = exponential(base=SECOND, factor=3, jitter=0, cap=timedelta(seconds=20), max_attempts=10)

    assert [policy(attempt, BOOM) for attempt in (1, 2, 3, 4)] == [SECOND, 3 * SECOND, 9 * SECOND, 20 * SECOND]


def test_attempt_400_is_capped_and_does_not_overflow() -> None:
    policy = exponential(factor=1000, jitter=0, max_attempts=10_000)

    assert policy(400, BOOM) == timedelta(hours=6)


def test_jitter_moves_a_wait_by_its_part_at_most() -> None:
    policy = exponential(base=100 * SECOND, jitter=0.2)

    waits = [policy(1, BOOM) for _ in range(200)]

    assert all(wait is not None and 80 * SECOND <= wait <= 120 * SECOND for wait in waits)
    assert len(set(waits)) > 100


def test_the_last_attempt_gives_up() -> None:
    assert exponential(max_attempts=3)(3, BOOM) is None
    assert intervals(SECOND, 2 * SECOND)(3, BOOM) is None
    assert intervals()(1, BOOM) is None


def test_errors_that_are_not_retryable_give_up_at_once() -> None:
    assert exponential()(1, NotRetryable()) is None
    assert exponential(never_on=(ValueError,))(1, BOOM) is None
    assert next_try(lambda _attempt, _error: SECOND, 1, NotRetryable(), None).wait is None


def test_a_jobs_own_limit_tightens_its_policy() -> None:
    assert next_try(exponential(max_attempts=8), 2, BOOM, 2).wait is None
    assert next_try(exponential(max_attempts=8), 1, BOOM, 2).wait is not None


def test_a_policy_that_fails_or_answers_wildly_never_strands_a_job() -> None:
    bug = RuntimeError("a bug in a policy")

    def broken(attempt: int, error: BaseException) -> timedelta:
        raise bug

    assert next_try(broken, 1, BOOM, None) == NextTry(wait=FALLBACK, failure=bug)
    assert next_try(lambda _attempt, _error: timedelta(days=-1), 1, BOOM, None).wait == timedelta(0)
    assert next_try(lambda _attempt, _error: timedelta.max, 1, BOOM, None).wait == MAX_WAIT


def test_an_answer_that_is_no_wait_is_a_failure_of_the_policy_that_says_so() -> None:
    seconds: Any = lambda _attempt, _error: 60  # noqa: E731

    answer = next_try(seconds, 1, BOOM, None)

    assert answer.wait == FALLBACK
    assert str(answer.failure) == "the answer of a retry policy cannot be 60. Give a timedelta, or None to give up."


@pytest.mark.parametrize(
    "wrong",
    [{"base": timedelta(0)}, {"factor": 0.5}, {"jitter": 2}, {"max_attempts": 0}, {"cap": timedelta(0)}],
    ids=str,
)
def test_a_number_out_of_range_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(InvalidInput):
        exponential(**wrong)  # type: ignore[arg-type]
