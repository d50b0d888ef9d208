"""Kinds as values, and requests as values that give changed copies."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest

from klokka.core.headers import MAX_ATTEMPTS, max_attempts_of
from klokka.core.jobtypes import JobType
from klokka.core.queues import Queue, in_drain_order
from klokka.core.records import NewJob
from klokka.errors import InvalidInput, InvalidName, InvalidTime


@dataclass(frozen=True, slots=True)
class Receipt:
    order_id: int


RECEIPT = JobType("receipt.send", Receipt, queue="email", version=3)


def test_a_kind_makes_requests_that_carry_it_with_its_queue_and_version() -> None:
    request = RECEIPT.new(Receipt(7))

    assert request == NewJob(kind="receipt.send", payload='{"order_id":7}', payload_version=3, queue="email")
    assert RECEIPT.decode(request.payload) == Receipt(7)


def test_options_give_a_changed_copy() -> None:
    request = RECEIPT.new(Receipt(7))

    changed = request.options(delay=timedelta(minutes=1), queue="slow", unique_key="r-7", max_attempts=2)

    assert (changed.run_at, changed.queue, changed.unique_key) == (timedelta(minutes=1), "slow", "r-7")
    assert max_attempts_of(changed.headers) == 2
    assert request == RECEIPT.new(Receipt(7))


def test_options_add_up_and_the_later_one_holds() -> None:
    at = datetime(2030, 1, 1, tzinfo=UTC)

    request = RECEIPT.new(Receipt(7)).options(unique_key="a", headers={"tenant": "x"}).options(run_at=at)
    later = request.options(delay=timedelta(seconds=1), headers={"trace": "y"})

    assert (request.unique_key, request.run_at) == ("a", at)
    assert (later.run_at, dict(later.headers)) == (timedelta(seconds=1), {"tenant": "x", "trace": "y"})


@pytest.mark.parametrize(
    ("wrong", "error", "said"),
    [
        ({"delay": timedelta(seconds=-1)}, InvalidTime, "delay is -1 s from now, in the past"),
        ({"run_at": datetime(2030, 1, 1)}, InvalidTime, "run_at .* has no time zone"),  # noqa: DTZ001
        ({"delay": timedelta(1), "run_at": datetime(2030, 1, 1, tzinfo=UTC)}, InvalidInput, "the same thing twice"),
        ({"queue": "Slow"}, InvalidName, "'S' at position 1"),
        ({"unique_key": ""}, InvalidName, "unique_key is empty"),
        ({"max_attempts": 0}, InvalidInput, "1 or more"),
        ({"headers": {"klokka.x": "1"}}, InvalidInput, "reserved"),
    ],
    ids=str,
)
def test_a_wrong_option_is_refused_where_it_is_given(
    wrong: dict[str, object], error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        RECEIPT.new(Receipt(7)).options(**wrong)  # type: ignore[arg-type]


def test_a_kind_is_checked_where_it_is_made() -> None:
    with pytest.raises(InvalidName, match="kind"):
        JobType("Receipt", Receipt)
    with pytest.raises(InvalidName, match="queue"):
        JobType("receipt", Receipt, queue="")
    with pytest.raises(InvalidInput, match="version"):
        JobType("receipt", Receipt, version=-1)


@pytest.mark.parametrize("text", ["", "x", "-1", "0", "1.5", "٣", "9" * 50])
def test_a_malformed_limit_in_a_header_means_the_default(text: str) -> None:
    assert max_attempts_of({MAX_ATTEMPTS: text}) is None


def test_queues_keep_their_drain_order_and_are_named_once() -> None:
    assert in_drain_order(["b", Queue("a", 2)]) == (Queue("b"), Queue("a", 2))

    with pytest.raises(InvalidInput, match="'a' is named twice"):
        in_drain_order(["a", Queue("a", 2)])
    with pytest.raises(InvalidInput, match="needs a queue"):
        in_drain_order([])
    with pytest.raises(InvalidInput, match="1 or more"):
        Queue("a", 0)
