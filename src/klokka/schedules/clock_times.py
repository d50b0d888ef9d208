"""Times of day, written "HH:MM" everywhere, and the set of them at which a schedule fires."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final, Self

from klokka.core.names import clip
from klokka.errors import InvalidSchedule
from klokka.schedules.arguments import of_class

_TIME: Final = re.compile(r"([01][0-9]|2[0-3]):([0-5][0-9])")
_ALMOST: Final = re.compile(r"([0-9]|[01][0-9]|2[0-3])[:.]([0-5][0-9])(?::00)?")
_MOST: Final = 1440

DAY_SECONDS: Final = 86_400


def parse_times(at: str | Sequence[str]) -> tuple[int, ...]:
    """Minutes of the day, sorted and without repeats, of one "HH:MM" or several.

    Raises:
        InvalidSchedule: one is not written "HH:MM", or there is none.
    """
    of_class("at", at, Iterable, 'Give a text such as "09:00", or several of them.')
    texts = (at,) if isinstance(at, str) else tuple(islice(at, _MOST + 1))
    if not texts:
        raise InvalidSchedule('at has no time. Give one or more, such as at="09:00" or at=("09:00", "17:30").')
    if len(texts) > _MOST:
        raise InvalidSchedule(f"at has more than {_MOST:,} times; a day has no more minutes. Name each one once.")
    return tuple(sorted({_parse(text) for text in texts}))


def _parse(text: str) -> int:
    of_class("at", text, str, 'Give a text such as "09:00".')
    if match := _TIME.fullmatch(text):
        return int(match[1]) * 60 + int(match[2])
    hint = 'Write two digits, a colon and two digits, from "00:00" to "23:59".'
    if text == "24:00":
        hint = 'Write "00:00", of the day after.'
    elif almost := _ALMOST.fullmatch(text):
        hint = f'Write "{int(almost[1]):02}:{almost[2]}".'
    raise InvalidSchedule(f"at {clip(text)!r} is not a time of day, from position {_good(text) + 1} on. {hint}")


def _good(text: str) -> int:
    """How many characters at the start could still become a time."""
    return max(n for n in range(min(len(text), 5) + 1) if _TIME.fullmatch(text[:n] + "00:00"[n:]) or n == 0)


@dataclass(frozen=True, slots=True)
class DayTimes:
    """Seconds of the day, kept as sorted seconds of the hour for each of its 24 hours.

    Hours that are alike share one tuple, so that every second of the day takes 3,600 numbers and not 86,400.
    """

    by_hour: tuple[tuple[int, ...], ...]

    @classmethod
    def of_minutes(cls, minutes: Collection[int]) -> Self:
        return cls(tuple(tuple(m % 60 * 60 for m in sorted(minutes) if m // 60 == hour) for hour in range(24)))

    @classmethod
    def of_fields(cls, hours: Collection[int], minutes: Collection[int], seconds: Collection[int]) -> Self:
        every_hour = tuple(minute * 60 + second for minute in sorted(minutes) for second in sorted(seconds))
        return cls(tuple(every_hour if hour in hours else () for hour in range(24)))

    def ascending(self, start: int = 0) -> Iterator[int]:
        """The seconds of the day from `start` on, itself included."""
        first = start // 3600
        for hour in range(first, 24):
            within = self.by_hour[hour]
            if hour == first:
                within = within[bisect_left(within, start - first * 3600) :]
            for second in within:
                yield hour * 3600 + second

    def descending(self, start: int = DAY_SECONDS - 1) -> Iterator[int]:
        """The seconds of the day from `start` back, itself included."""
        first = start // 3600
        for hour in range(first, -1, -1):
            within = self.by_hour[hour]
            if hour == first:
                within = within[: bisect_right(within, start - first * 3600)]
            for second in reversed(within):
                yield hour * 3600 + second
