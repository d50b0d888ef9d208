from datetime import timedelta

import pytest

from klokka.core.durations import spell


@pytest.mark.parametrize(
    ("length", "text"),
    [
        (timedelta(0), "0 s"),
        (timedelta(microseconds=12), "0 s"),
        (timedelta(microseconds=312), "0.3 ms"),
        (timedelta(milliseconds=12), "12 ms"),
        (timedelta(microseconds=999_999), "999.9 ms"),
        (timedelta(seconds=5), "5 s"),
        (timedelta(seconds=11, microseconds=714_489), "11.7 s"),
        (timedelta(seconds=59, microseconds=999_999), "59.9 s"),
        (timedelta(minutes=1, microseconds=1), "1 m"),
        (timedelta(hours=1, minutes=30, seconds=5), "1 h 30 m"),
        (timedelta(days=2, seconds=5), "2 d"),
        (timedelta(days=365, hours=6), "365 d 6 h"),
        (timedelta(seconds=-90), "-1 m 30 s"),
        (timedelta.max, "999999999 d 23 h"),
        (timedelta.min, "-999999999 d"),
    ],
)
def test_a_length_is_spelled_as_people_say_it(length: timedelta, text: str) -> None:
    assert spell(length) == text
