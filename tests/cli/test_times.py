from datetime import UTC, datetime, timedelta, timezone

import pytest

from klokka.cli.times import parse_instant, relative, stamp
from klokka.errors import InvalidTime

NOW = datetime(2024, 3, 10, 7, tzinfo=UTC)


def test_a_stamp_is_utc_with_six_digits() -> None:
    assert stamp(datetime(2024, 3, 10, 9, tzinfo=timezone(timedelta(hours=2)))) == "2024-03-10T07:00:00.000000Z"


@pytest.mark.parametrize(
    ("distance", "text"),
    [
        (timedelta(0), "now"),
        (timedelta(seconds=-12.9), "12 s ago"),
        (timedelta(minutes=-3), "3 m ago"),
        (timedelta(hours=-47), "47 h ago"),
        (timedelta(days=-2), "2 d ago"),
        (timedelta(minutes=5), "in 5 m"),
    ],
)
def test_an_instant_is_told_by_its_distance_in_the_largest_unit(distance: timedelta, text: str) -> None:
    assert relative(NOW + distance, NOW) == text


def test_no_instant_is_a_dash() -> None:
    assert relative(None, NOW) == "-"


@pytest.mark.parametrize("text", ["2024-03-10T07:00:00Z", "2024-03-10T09:00:00+02:00", "2024-03-10T07:00:00.000000Z"])
def test_an_instant_with_a_zone_is_read(text: str) -> None:
    assert parse_instant(text) == NOW


def test_an_instant_without_zone_is_refused_with_what_to_add() -> None:
    with pytest.raises(InvalidTime, match=r"'2024-03-10T07:00:00' has no time zone. Add Z"):
        parse_instant("2024-03-10T07:00:00")


@pytest.mark.parametrize("text", ["", "tomorrow", "2024-13-01T00:00:00Z", "07:00"])
def test_what_is_no_instant_is_refused_with_the_form(text: str) -> None:
    with pytest.raises(InvalidTime, match=r"is no instant\. Write it like 2024-03-10T07:00:00Z"):
        parse_instant(text)


def test_an_instant_outside_of_the_calendar_is_refused() -> None:
    with pytest.raises(InvalidTime, match="outside of the years"):
        parse_instant("0001-01-01T00:00:00+02:00")
