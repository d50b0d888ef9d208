"""Which days a calendar schedule means, as values: `monthly(LAST_BUSINESS_DAY, at=…)`."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final, TypeAlias

from klokka.errors import InvalidSchedule
from klokka.schedules.arguments import of_class, whole
from klokka.schedules.holidays import HolidayCalendar, check_holidays
from klokka.schedules.local_times import month_length
from klokka.schedules.phrases import MONTHS, listing, ordinal
from klokka.schedules.weekdays import SAT, Weekday

_LONGEST: Final = (0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_GROUPS: Final[dict[tuple[int, ...], str]] = {
    (1, 2, 3, 4, 5): "weekdays",
    (6, 7): "weekends",
    (1, 2, 3, 4, 5, 6, 7): "every day",
}


@dataclass(frozen=True, slots=True)
class DaysOfWeek:
    """The same days of every week."""

    days: tuple[Weekday, ...]

    def __post_init__(self) -> None:
        if not self.days:
            raise InvalidSchedule("weekly has no day. Name one or more, such as weekly(MON, WED, at=…).")
        unique = {check_weekday("weekly", day) for day in self.days}
        object.__setattr__(self, "days", tuple(sorted(unique)))

    def days_in(self, year: int, month: int) -> Sequence[int]:
        first = date(year, month, 1).isoweekday()
        return [day for day in range(1, month_length(year, month) + 1) if (first + day - 2) % 7 + 1 in self.days]

    def describe(self) -> str:
        return _GROUPS.get(self.days) or listing(f"{day.english}s" for day in self.days)

    def canonical(self) -> str:
        return f"weekly {','.join(str(int(day)) for day in self.days)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class DayOfMonth:
    """A day of every month, or of one; a month that lacks it is skipped, or, if `clamp`, gives its last day."""

    day: int
    month: int | None = None
    clamp: bool = False

    def __post_init__(self) -> None:
        whole("day", self.day, 1, 31)
        if self.month is not None:
            whole("month", self.month, 1, 12)
            longest = _LONGEST[self.month]
            if self.day > longest and not self.clamp:
                hint = "Name another day, or give clamp=True for the last day of the month."
                raise InvalidSchedule(f"day {self.day}: {MONTHS[self.month]} never has it, so it never fires. {hint}")
            object.__setattr__(self, "day", min(self.day, longest))
            object.__setattr__(self, "clamp", self.clamp and self.month == 2)
        object.__setattr__(self, "clamp", self.clamp and self.day > 28)

    def days_in(self, year: int, month: int) -> Sequence[int]:
        if self.month is not None and month != self.month:
            return ()
        last = month_length(year, month)
        if self.day <= last:
            return (self.day,)
        return (last,) if self.clamp else ()

    def describe(self) -> str:
        of = "each month" if self.month is None else MONTHS[self.month]
        if self.clamp and self.day == (31 if self.month is None else 29):
            return f"the last day of {of}"
        lacking = "or the last day" if self.clamp else "where there is one"
        return f"day {self.day} of {of}" + (f", {lacking}," if self.day > 28 and self.month in (None, 2) else "")

    def canonical(self) -> str:
        return f"day {self.day} of {self.month or 'month'}{' clamped' if self.clamp else ''}"


@dataclass(frozen=True, slots=True)
class NthWeekday:
    """The `nth` such weekday of every month; a month without a fifth one is skipped."""

    nth: int
    weekday: Weekday

    def __post_init__(self) -> None:
        whole("nth", self.nth, 1, 5)
        check_weekday("weekday", self.weekday)

    def days_in(self, year: int, month: int) -> Sequence[int]:
        day = (self.weekday - date(year, month, 1).isoweekday()) % 7 + 7 * self.nth - 6
        return (day,) if day <= month_length(year, month) else ()

    def describe(self) -> str:
        lacking = ", where there is one," if self.nth == 5 else ""
        return f"the {ordinal(self.nth)} {self.weekday.english} of each month{lacking}"

    def canonical(self) -> str:
        return f"weekday {self.weekday:d} number {self.nth}"


@dataclass(frozen=True, slots=True)
class LastWeekday:
    """The last such weekday of every month."""

    weekday: Weekday

    def __post_init__(self) -> None:
        check_weekday("weekday", self.weekday)

    def days_in(self, year: int, month: int) -> Sequence[int]:
        last = month_length(year, month)
        return (last - (date(year, month, last).isoweekday() - self.weekday) % 7,)

    def describe(self) -> str:
        return f"the last {self.weekday.english} of each month"

    def canonical(self) -> str:
        return f"weekday {self.weekday:d} last"


@dataclass(frozen=True, slots=True)
class NthBusinessDay:
    """The `nth` business day of every month: Monday to Friday, without holidays. A month with fewer is skipped."""

    nth: int
    holidays: HolidayCalendar | None = None

    def __post_init__(self) -> None:
        whole("nth", self.nth, 1, 23)
        check_holidays(self.holidays)

    def days_in(self, year: int, month: int) -> Sequence[int]:
        return business_days(year, month, self.holidays)[self.nth - 1 : self.nth]

    def describe(self) -> str:
        lacking = ", where there is one," if self.nth > 20 else ""
        return f"the {ordinal(self.nth)} business day of each month{_without(self.holidays)}{lacking}"

    def canonical(self) -> str:
        return f"business day {self.nth}{_calendar_id(self.holidays)}"


@dataclass(frozen=True, slots=True)
class LastBusinessDay:
    """The last business day of every month: Monday to Friday, without holidays."""

    holidays: HolidayCalendar | None = None

    def __post_init__(self) -> None:
        check_holidays(self.holidays)

    def days_in(self, year: int, month: int) -> Sequence[int]:
        return business_days(year, month, self.holidays)[-1:]

    def describe(self) -> str:
        return f"the last business day of each month{_without(self.holidays)}"

    def canonical(self) -> str:
        return f"business day last{_calendar_id(self.holidays)}"


DayOfMonthRule: TypeAlias = DayOfMonth | NthWeekday | LastWeekday | NthBusinessDay | LastBusinessDay


def business_days(year: int, month: int, holidays: HolidayCalendar | None) -> list[int]:
    """The days of a month from Monday to Friday that are no holidays."""
    first = date(year, month, 1).isoweekday()
    working = [day for day in range(1, month_length(year, month) + 1) if (first + day - 2) % 7 + 1 < SAT]
    return working if holidays is None else [day for day in working if not holidays.is_holiday(date(year, month, day))]


def check_weekday(what: str, day: Weekday) -> Weekday:
    """`day`, if it is one of MON to SUN; else InvalidSchedule."""
    of_class(what, day, Weekday, "Give MON to SUN of klokka, not a text or number.")
    return day


def _without(holidays: HolidayCalendar | None) -> str:
    return "" if holidays is None else f" without holidays {holidays.id}"


def _calendar_id(holidays: HolidayCalendar | None) -> str:
    return "" if holidays is None else f" without {holidays.id!r}"


LAST_DAY: Final = DayOfMonth(day=31, clamp=True)
LAST_BUSINESS_DAY: Final = LastBusinessDay()
