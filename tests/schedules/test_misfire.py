import time
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, strategies as st

from klokka.errors import InvalidSchedule, InvalidTime
from klokka.schedules import (
    CatchUp,
    Count,
    FireOnce,
    MisfirePolicy,
    Schedule,
    Skip,
    count_ticks,
    cron,
    daily,
    decide,
    every,
)
from tests.schedules.expressions import slow

MINUTE = timedelta(minutes=1)
NOON = datetime(2024, 6, 1, 12, tzinfo=UTC)
MINUTELY = cron("* * * * *")
HOURLY = every(timedelta(hours=1))


def test_a_tick_on_the_threshold_is_on_time_and_one_beyond_it_late() -> None:
    on_time = decide(HOURLY, NOON, NOON + MINUTE, Skip())
    late = decide(HOURLY, NOON, NOON + MINUTE + timedelta(microseconds=1), Skip())

    assert (on_time.fires, on_time.skipped, on_time.late) == ((NOON,), Count(number=0, exact=True), False)
    assert (late.fires, late.skipped, late.late) == ((), Count(number=1, exact=True), True)
    assert on_time.next_fire_at == late.next_fire_at == NOON + timedelta(hours=1)


def test_a_tick_that_is_due_now_is_due() -> None:
    assert decide(HOURLY, NOON, NOON, FireOnce()).fires == (NOON,)


@pytest.mark.parametrize("policy", [Skip(), FireOnce(), CatchUp(at_most=3)])
def test_a_clock_that_goes_back_fires_nothing_and_moves_nothing(policy: MisfirePolicy) -> None:
    decision = decide(HOURLY, NOON, NOON - timedelta(days=3), policy)

    assert decision.fires == ()
    assert decision.skipped == Count(number=0, exact=True)
    assert decision.next_fire_at == NOON


def test_catching_up_fires_the_last_ones_in_order() -> None:
    decision = decide(HOURLY, NOON, NOON + timedelta(hours=10, minutes=30), CatchUp(at_most=3))

    assert decision.fires == tuple(NOON + timedelta(hours=hours) for hours in (8, 9, 10))
    assert decision.skipped == Count(number=8, exact=True)
    assert decision.late


def test_catching_up_with_fewer_due_fires_them_all() -> None:
    decision = decide(HOURLY, NOON, NOON + timedelta(hours=1), CatchUp(at_most=10_000))

    assert decision.fires == (NOON, NOON + timedelta(hours=1))
    assert decision.skipped == Count(number=0, exact=True)


def test_a_cursor_off_the_grid_is_due_as_it_stands() -> None:
    """Rules of a zone change, and a paused schedule resumes at a time that its operator gave."""
    cursor = NOON + timedelta(minutes=7)

    alone = decide(HOURLY, cursor, cursor + MINUTE, FireOnce())
    first = decide(HOURLY, cursor, NOON + timedelta(hours=2), CatchUp(at_most=5))

    assert alone.fires == (cursor,)
    assert first.fires == (cursor, NOON + timedelta(hours=1), NOON + timedelta(hours=2))


@pytest.mark.parametrize(("due", "missed"), [(1001, "1,000"), (1002, "at least 1,000"), (10_000, "at least 1,000")])
def test_missed_ticks_are_counted_exactly_up_to_a_thousand(due: int, missed: str) -> None:
    once = decide(MINUTELY, NOON, NOON + (due - 1) * MINUTE, FireOnce())
    three = decide(MINUTELY, NOON, NOON + (due + 1) * MINUTE, CatchUp(at_most=3))

    assert str(once.skipped) == missed
    assert str(three.skipped) == missed
    assert once.skipped.number == three.skipped.number == 1000


@slow
@given(
    hours=st.integers(0, 3000),
    rest=st.timedeltas(timedelta(0), timedelta(minutes=59)),
    threshold=st.timedeltas(timedelta(0), timedelta(hours=2)),
    most=st.integers(1, 1500),
)
def test_what_fires_and_what_is_skipped_is_all_that_was_due(
    hours: int, rest: timedelta, threshold: timedelta, most: int
) -> None:
    now = NOON + timedelta(hours=hours) + rest
    due = [NOON + timedelta(hours=n) for n in range(hours + 1)]

    skip = decide(HOURLY, NOON, now, Skip(threshold=threshold))
    once = decide(HOURLY, NOON, now, FireOnce(threshold=threshold))
    some = decide(HOURLY, NOON, now, CatchUp(at_most=most, threshold=threshold))

    assert list(skip.fires) == ([] if now - due[-1] > threshold else due[-1:])
    assert list(once.fires) == due[-1:]
    assert list(some.fires) == due[-most:]
    for decision in (skip, once, some):
        missed = len(due) - len(decision.fires)
        assert decision.skipped == Count(number=min(missed, 1000), exact=missed <= 1000)
        assert decision.next_fire_at == NOON + timedelta(hours=hours + 1)
        assert decision.late == (now - due[-1] > threshold)


@pytest.mark.parametrize(
    "schedule",
    [
        MINUTELY,
        cron("* * * * * *", seconds=True, zone="Africa/Casablanca"),
        cron("0-59 0-23 * * *", zone="America/New_York"),
        daily(at="09:00", zone="Europe/Oslo"),
        every(timedelta(microseconds=1)),
    ],
    ids=lambda schedule: schedule.describe(),
)
@pytest.mark.parametrize("policy", [Skip(), FireOnce(), CatchUp(at_most=50)], ids=lambda policy: policy.canonical())
def test_ten_years_down_are_decided_within_ten_milliseconds(schedule: Schedule, policy: MisfirePolicy) -> None:
    cursor = schedule.next(datetime(2014, 10, 30, tzinfo=UTC))
    assert cursor is not None

    times: list[float] = []
    while len(times) < 5 and min(times, default=1.0) > 0.008:
        begin = time.thread_time()
        decision = decide(schedule, cursor, NOON, policy)
        times.append(time.thread_time() - begin)

    assert min(times) < 0.010
    assert not decision.skipped.exact


def test_the_end_of_the_calendar_leaves_no_next_fire() -> None:
    last = datetime(9999, 12, 31, 23, 59, tzinfo=UTC)

    decision = decide(MINUTELY, last, datetime.max.replace(tzinfo=UTC), FireOnce())

    assert decision.fires == (last,)
    assert decision.next_fire_at is None


def test_counting_stops_where_it_is_told_to() -> None:
    assert count_ticks(HOURLY, after=NOON, until=NOON + timedelta(hours=5)) == Count(number=5, exact=True)
    assert str(count_ticks(HOURLY, after=NOON, until=NOON + timedelta(hours=5), most=4)) == "at least 4"
    assert count_ticks(HOURLY, after=NOON, until=NOON).number == 0


def test_wrong_policies_and_naive_times_are_refused() -> None:
    with pytest.raises(InvalidSchedule, match="at_most 0 is not 1 or more"):
        CatchUp(at_most=0)
    with pytest.raises(InvalidSchedule, match="at_most 10001 is more than 10,000, the most that is made up for"):
        CatchUp(at_most=10_001)
    with pytest.raises(InvalidSchedule, match="threshold -1 day"):
        Skip(threshold=timedelta(days=-1))
    with pytest.raises(InvalidTime, match=r"now .* has no time zone"):
        decide(HOURLY, NOON, NOON.replace(tzinfo=None), FireOnce())
