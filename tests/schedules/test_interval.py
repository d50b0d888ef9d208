from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, strategies as st

from klokka.errors import InvalidSchedule
from klokka.schedules import every

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)
instants = st.datetimes(datetime(2, 1, 1), datetime(9990, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001
periods = st.timedeltas(timedelta(microseconds=1), timedelta(days=400))


@given(period=periods, offset=st.timedeltas(-timedelta(days=900), timedelta(days=900)), after=instants)
def test_ticks_stand_on_the_grid_of_the_epoch(period: timedelta, offset: timedelta, after: datetime) -> None:
    schedule = every(period, offset=offset)

    tick = schedule.next(after)
    before = schedule.prev(after)

    assert tick is not None
    assert before is not None
    assert after < tick <= after + period
    assert after - period <= before < after
    assert (tick - EPOCH - offset) % period == timedelta(0)
    assert (before - EPOCH - offset) % period == timedelta(0)
    assert schedule.prev(tick) in (before, after)


def test_a_day_is_24_hours_through_a_change_of_clocks() -> None:
    schedule = every(timedelta(days=1), offset=7 * HOUR)

    assert schedule.next(datetime(2024, 3, 9, 7, tzinfo=UTC)) == datetime(2024, 3, 10, 7, tzinfo=UTC)
    assert schedule.describe() == "every 24 hours of elapsed time, offset 7 hours"


def test_an_offset_counts_modulo_the_period() -> None:
    assert every(2 * HOUR, offset=5 * HOUR) == every(2 * HOUR, offset=HOUR) == every(2 * HOUR, offset=-HOUR)


@pytest.mark.parametrize("period", [timedelta(0), -HOUR])
def test_no_period_is_refused(period: timedelta) -> None:
    with pytest.raises(InvalidSchedule, match="period must be longer than nothing"):
        every(period)


def test_a_period_beyond_the_calendar_is_refused() -> None:
    with pytest.raises(InvalidSchedule, match="never fires"):
        every(timedelta.max)


@pytest.mark.parametrize(
    ("period", "words"),
    [
        (HOUR, "every hour"),
        (timedelta(minutes=90), "every 90 minutes"),
        (timedelta(seconds=1), "every second"),
        (timedelta(milliseconds=1500), "every 1500 milliseconds"),
        (timedelta(microseconds=3), "every 3 microseconds"),
    ],
)
def test_a_description_names_the_largest_exact_unit(period: timedelta, words: str) -> None:
    assert every(period).describe() == f"{words} of elapsed time"
