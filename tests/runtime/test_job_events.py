"""What is told of runs, by value alone."""

from dataclasses import replace
from datetime import timedelta

import pytest

from klokka.core import events
from klokka.core.ids import Fence
from klokka.core.outcomes import Cancel, Snooze
from klokka.core.states import Move
from klokka.errors import NotRetryable
from klokka.runtime.job_events import ENDS, end_of, waited
from klokka.runtime.verdict import Result, handed_back
from tests.support.verdicts import NOON, SECOND, a_job, judged

LEASE = timedelta(seconds=30)


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


@pytest.mark.parametrize(
    ("enqueued", "meant_for", "claimed", "waited_for"),
    [
        (0, 0, 5, 5),  # from the enqueue on
        (0, 60, 65, 5),  # from its time on
        (0, -3600, 5, 5),  # a tick made up for: it could not wait before it was there
        (0, 0, -1, 0),  # the store's clock stepped back
    ],
)
def test_a_job_has_waited_since_it_was_there_and_due(
    enqueued: int, meant_for: int, claimed: int, waited_for: int
) -> None:
    job = replace(
        a_job(),
        fence=Fence(1),
        enqueued_at=NOON + enqueued * SECOND,
        scheduled_for=NOON + meant_for * SECOND,
        lease_until=NOON + claimed * SECOND + LEASE,
    )

    assert waited(job, LEASE) == waited_for * SECOND


@pytest.mark.parametrize("attempt", [1, 2])
def test_how_long_a_job_waited_that_was_claimed_before_is_not_known(attempt: int) -> None:
    assert waited(replace(a_job(attempt=attempt), fence=Fence(2)), LEASE) is None
