"""Instants: aware, UTC, exact."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, strategies as st

from klokka.core.instants import after, aware, check_plan, instant, micros
from klokka.errors import InvalidTime


@given(st.datetimes(timezones=st.timezones()))
def test_an_instant_goes_through_microseconds_without_drift(value: datetime) -> None:
    try:
        in_utc = value.astimezone(UTC)
    except OverflowError:
        return

    assert instant(micros(value)) == in_utc


def test_a_naive_time_is_refused_and_told_what_to_do() -> None:
    with pytest.raises(InvalidTime, match=r"no time zone\. Give an aware one"):
        aware(datetime(2024, 1, 1))  # noqa: DTZ001


def test_a_time_beyond_the_calendar_in_utc_is_refused() -> None:
    edge = datetime(9999, 12, 31, 23, tzinfo=timezone(timedelta(hours=-5)))

    with pytest.raises(InvalidTime, match="outside of the years"):
        aware(edge)
    with pytest.raises(InvalidTime, match="beyond the year 9999"):
        after(datetime(2024, 1, 1, tzinfo=UTC), timedelta.max)


def test_a_plan_is_an_aware_instant_or_a_wait_that_is_not_negative() -> None:
    check_plan("run_at", timedelta(0))
    check_plan("run_at", datetime(1999, 1, 1, tzinfo=UTC))

    with pytest.raises(InvalidTime, match="in the past"):
        check_plan("run_at", timedelta(microseconds=-1))
