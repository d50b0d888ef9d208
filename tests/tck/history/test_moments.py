"""What time it may have been for an operation."""

from datetime import UTC, datetime, timedelta

from klokka.tck.history.moments import Moments
from klokka.tck.history.record import Operation

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def operation(verb: str, begun: float, ended: float) -> Operation:
    return Operation(caller=1, verb=verb, asked={"by": MINUTE}, answer=None, begun=begun, ended=ended)


def test_a_verb_may_have_gone_by_any_instant_since_it_began() -> None:
    moves = [operation("advance", at, at + 0.5) for at in (1, 3, 5)]
    moments = Moments(BEGIN, moves)

    possible = list(moments.possible(operation("claim", 2, 6), BEGIN + 2 * MINUTE))

    assert possible == [BEGIN + 2 * MINUTE, BEGIN + MINUTE]


def test_where_time_never_moved_there_is_one_instant() -> None:
    assert list(Moments(BEGIN, []).possible(operation("claim", 2, 6), BEGIN)) == [BEGIN]
