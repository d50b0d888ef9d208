"""The small change of descriptions: lists, ordinals, durations and times of day in English."""

from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Final

_UNITS: Final = (
    ("hour", timedelta(hours=1)),
    ("minute", timedelta(minutes=1)),
    ("second", timedelta(seconds=1)),
    ("millisecond", timedelta(milliseconds=1)),
    ("microsecond", timedelta(microseconds=1)),
)
MONTHS: Final = (
    *("", "January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
"""By number: January is 1."""
_SUFFIXES: Final = {1: "st", 2: "nd", 3: "rd"}


def listing(words: Iterable[str], last: str = "and") -> str:
    """Words as in "a", "a and b", "a, b and c"."""
    *most, final = words
    return f"{', '.join(most)} {last} {final}" if most else final


def runs(numbers: Iterable[int]) -> list[tuple[int, int]]:
    """Ascending numbers as first and last of each unbroken run."""
    found: list[tuple[int, int]] = []
    for number in numbers:
        if found and found[-1][1] == number - 1:
            found[-1] = (found[-1][0], number)
        else:
            found.append((number, number))
    return found


def spans(numbers: Sequence[int], names: Sequence[str] | None = None) -> str:
    """Ascending numbers, or their names, in a list with runs of three and more written as "a to b"."""
    words: list[str] = []
    for first, last in runs(numbers):
        ends = [str(n) if names is None else names[n] for n in (first, last)]
        if last - first >= 2:
            words.append(f"{ends[0]} to {ends[1]}")
        else:
            words.extend(ends[: last - first + 1])
    return listing(words)


def ordinal(number: int) -> str:
    """A number as in "1st", "2nd", "11th"."""
    return f"{number}{'th' if 10 < number % 100 < 14 else _SUFFIXES.get(number % 10, 'th')}"


def duration(span: timedelta) -> str:
    """A span as in "hour" for one, "90 minutes" for more, in the largest unit that is exact; a day is 24 hours."""
    for name, unit in _UNITS:
        if span % unit == timedelta(0):
            count = span // unit
            return name if count == 1 else f"{count} {name}s"
    raise AssertionError(f"{span} is not whole in microseconds")


def clock(second_of_day: int) -> str:
    """A time as in "09:00", or "09:00:30" where there are seconds."""
    minute, second = divmod(second_of_day, 60)
    return f"{minute // 60:02}:{minute % 60:02}" + (f":{second:02}" if second else "")
