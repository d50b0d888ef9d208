"""The search for an order: what it accepts, what it refuses, and what unknown outcomes may explain."""

import math
from collections.abc import Iterable

from klokka.tck.history.order import Event, Object, Verdict, judge
from klokka.tck.history.record import UNKNOWN, Operation


def step(value: int, event: Event) -> Iterable[int]:
    """A register: writes and reads."""
    if event.what == "write":
        return [event.given]
    return [value] if value == event.given else []


REGISTER: Object[int] = Object(0, step, lambda value: value)


def event(what: str, given: int, begun: float, ended: float = math.inf) -> Event:
    answer = UNKNOWN if ended == math.inf else None
    return Event(Operation(caller=1, verb=what, asked={}, answer=answer, begun=begun, ended=ended), what, given)


def test_a_read_may_see_a_write_that_was_under_way() -> None:
    for seen in (0, 1):
        assert judge(REGISTER, [event("write", 1, 0, 3), event("read", seen, 1, 2)]).verdict is Verdict.RIGHT


def test_a_read_that_begins_after_a_write_has_ended_sees_it() -> None:
    finding = judge(REGISTER, [event("write", 1, 0, 1), event("read", 0, 2, 3)])

    assert finding.verdict is Verdict.WRONG
    assert [stuck.what for stuck in finding.stuck] == ["read"]


def test_what_was_seen_once_is_not_unseen_by_who_comes_later() -> None:
    reads = [event("read", 1, 1, 2), event("read", 0, 3, 4)]

    assert judge(REGISTER, [event("write", 1, 0, 5), *reads]).verdict is Verdict.WRONG


def test_an_unknown_outcome_may_have_happened_late_or_never() -> None:
    cut = event("write", 1, 0)

    assert judge(REGISTER, [cut, event("read", 0, 1, 2), event("read", 1, 3, 4)]).verdict is Verdict.RIGHT
    assert judge(REGISTER, [cut, event("read", 0, 1, 2), event("read", 0, 3, 4)]).verdict is Verdict.RIGHT
    assert judge(REGISTER, [cut, event("read", 1, 1, 2), event("read", 0, 3, 4)]).verdict is Verdict.WRONG


def test_an_unknown_outcome_explains_nothing_before_it_began() -> None:
    assert judge(REGISTER, [event("read", 1, 0, 1), event("write", 1, 2)]).verdict is Verdict.WRONG


def test_a_search_that_grows_without_end_is_given_up() -> None:
    counter: Object[tuple[int, ...]] = Object((), lambda seen, it: [(*seen, it.given)], lambda seen: seen)
    crowd = [event("write", number, 0, 10) for number in range(12)]
    last = Object(counter.begin, lambda seen, it: [] if it.what == "read" else counter.step(seen, it), counter.key)

    assert judge(last, [*crowd, event("read", 1, 0, 10)]).verdict is Verdict.UNDECIDED


def test_no_events_are_right() -> None:
    assert judge(REGISTER, []).verdict is Verdict.RIGHT
