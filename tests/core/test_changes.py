"""A change that cannot mean anything is refused before a store looks at the job."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from klokka.core.changes import check_change
from klokka.core.ids import Fence, JobId
from klokka.core.records import Change
from klokka.core.states import Cancelled, Enqueued, Failed, Running, Scheduled, Succeeded
from klokka.errors import InvalidInput, InvalidTime

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
NAIVE = datetime(2026, 1, 1, 12)  # noqa: DTZ001


def change(from_: Any = Running(), to: Any = Succeeded(), **more: Any) -> Change:  # noqa: B008
    return Change(id=JobId(1), from_=from_, to=to, **more)


@pytest.mark.parametrize(
    "good",
    [
        change(),
        change(from_=Succeeded(), to=Scheduled(at=NOON)),
        change(to=Failed(retry_at=timedelta(0))),
        change(from_=Scheduled(at=NOON), to=Cancelled()),
        change(from_=Failed(), to=Enqueued()),
        change(to=Enqueued(), fence=Fence(1), refund=True),
    ],
)
def test_no_edge_is_judged(good: Change) -> None:
    check_change(good)


@pytest.mark.parametrize(
    ("bad", "error", "says"),
    [
        (change(from_=Enqueued(), to=Running()), InvalidInput, "only `claim`"),
        (change(to=Scheduled()), InvalidTime, "Scheduled as a target needs its time"),
        (change(to=Failed()), InvalidTime, "Failed as a target needs its time"),
        (change(to=Failed(retry_at=NAIVE)), InvalidTime, "retry_at"),
        (change(to=Scheduled(at=-timedelta(seconds=1))), InvalidTime, "in the past"),
        (change(from_=Scheduled(at=timedelta(seconds=1)), to=Cancelled()), InvalidTime, "duration"),
        (change(from_=Failed(retry_at=NAIVE), to=Cancelled()), InvalidTime, "no time zone"),
        (change(to=Enqueued(), refund=True), InvalidInput, "fence"),
        (change(from_=Enqueued(), to=Cancelled(), fence=Fence(1), refund=True), InvalidInput, r"Running\(\)"),
    ],
)
def test_what_means_nothing_is_refused(bad: Change, error: type[InvalidInput], says: str) -> None:
    with pytest.raises(error, match=says):
        check_change(bad)
