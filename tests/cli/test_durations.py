from datetime import timedelta

import pytest

from klokka.cli.durations import parse_duration
from klokka.errors import InvalidTime


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("10s", timedelta(seconds=10)),
        ("5m", timedelta(minutes=5)),
        ("1h30m", timedelta(hours=1, minutes=30)),
        ("2d", timedelta(days=2)),
        ("1d2h3m4s5ms", timedelta(days=1, hours=2, minutes=3, seconds=4, milliseconds=5)),
        ("90m", timedelta(minutes=90)),
        ("0s", timedelta(0)),
    ],
)
def test_a_duration_is_whole_numbers_with_units(text: str, length: timedelta) -> None:
    assert parse_duration(text) == length


@pytest.mark.parametrize("text", ["", "s", "10", "-5s", "1.5h", "5 m", "30m1h", "5m5m", "5M", "٣s", "1w", "10s\n"])
def test_another_form_is_refused_with_the_text_and_the_form(text: str) -> None:
    with pytest.raises(InvalidTime, match=r"is no length of time\. Write it like 10s, 5m, 1h30m or 2d") as refused:
        parse_duration(text)

    assert repr(text) in str(refused.value)


def test_a_number_without_unit_gets_a_hint() -> None:
    with pytest.raises(InvalidTime, match=r"Did you mean 25s\?"):
        parse_duration("25")


def test_a_duration_beyond_the_calendar_is_refused() -> None:
    with pytest.raises(InvalidTime, match="longer than the calendar"):
        parse_duration("9" * 4000 + "d")
