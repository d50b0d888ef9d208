"""M: the naive local times at which a schedule matches, as a set that can be walked from anywhere, both ways."""

from calendar import monthrange
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import MAXYEAR, MINYEAR, datetime, timedelta
from typing import Final, Protocol

from klokka.schedules.clock_times import DAY_SECONDS, DayTimes

_MONTHS: Final = 12 * 50
"""Months without a match after which the walk ends. The calendar itself needs 480 (29 February on a Sunday across
2100); only a caller's holidays can ask for more."""


class DayRule(Protocol):
    """Which days of a month match. A pure value: the same answer for ever."""

    def days_in(self, year: int, month: int) -> Sequence[int]:
        """The matching days, ascending."""
        ...


def month_length(year: int, month: int) -> int:
    return monthrange(year, month)[1]


@dataclass(frozen=True, slots=True)
class LocalTimes:
    """Every time of `times` on every day of `days`, in whole seconds, from year 1 to year 9999."""

    days: DayRule
    times: DayTimes

    def ascending(self, start: datetime) -> Iterator[datetime]:
        """The matches from a naive `start` on, itself included."""
        ceiling = _second_of_day(start) + (start.microsecond > 0)
        for first, midnight in self._days_from(start):
            begin = ceiling if first else 0
            if begin < DAY_SECONDS:
                for second in self.times.ascending(begin):
                    yield midnight + timedelta(seconds=second)

    def descending(self, start: datetime) -> Iterator[datetime]:
        """The matches from a naive `start` back, itself included."""
        floor = _second_of_day(start)
        for first, midnight in self._days_until(start):
            for second in self.times.descending(floor if first else DAY_SECONDS - 1):
                yield midnight + timedelta(seconds=second)

    def _days_from(self, start: datetime) -> Iterator[tuple[bool, datetime]]:
        """Matching days with whether it is the day of `start`."""
        empty = 0
        for index in range(start.year * 12 + start.month - 1, MAXYEAR * 12 + 12):
            year, month = index // 12, index % 12 + 1
            own = year == start.year and month == start.month
            days = self.days.days_in(year, month)
            for day in days:
                if not own or day >= start.day:
                    yield own and day == start.day, datetime(year, month, day)  # noqa: DTZ001
            empty = 0 if days else empty + 1
            if empty > _MONTHS:
                return

    def _days_until(self, start: datetime) -> Iterator[tuple[bool, datetime]]:
        empty = 0
        for index in range(start.year * 12 + start.month - 1, MINYEAR * 12 - 1, -1):
            year, month = index // 12, index % 12 + 1
            own = year == start.year and month == start.month
            days = self.days.days_in(year, month)
            for day in reversed(days):
                if not own or day <= start.day:
                    yield own and day == start.day, datetime(year, month, day)  # noqa: DTZ001
            empty = 0 if days else empty + 1
            if empty > _MONTHS:
                return


def _second_of_day(label: datetime) -> int:
    return label.hour * 3600 + label.minute * 60 + label.second
