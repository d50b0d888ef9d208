"""Schedules by the calendar, in words: a time of day on certain days, in a zone.

Each wall time fires once: the first time that it comes, or, where the clocks skip it, when the gap ends. `at` is one
"HH:MM" or several; the zone is UTC unless another is given.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import get_args

from klokka.errors import InvalidSchedule
from klokka.schedules.arguments import of_class
from klokka.schedules.clock_times import DayTimes, parse_times
from klokka.schedules.day_rules import (
    LAST_DAY,
    DayOfMonth,
    DayOfMonthRule,
    DaysOfWeek,
    LastBusinessDay,
    LastWeekday,
    NthBusinessDay,
    NthWeekday,
)
from klokka.schedules.dst import ZonedSchedule
from klokka.schedules.holidays import HolidayCalendar
from klokka.schedules.local_times import LocalTimes
from klokka.schedules.phrases import clock, listing
from klokka.schedules.weekdays import Weekday
from klokka.schedules.zones import load_zone


@dataclass(frozen=True, slots=True, kw_only=True)
class Calendar(ZonedSchedule):
    """Times of day, as minutes of it, on the days of a rule."""

    days: DaysOfWeek | DayOfMonthRule
    at: tuple[int, ...]

    def describe(self) -> str:
        return f"{self.days.describe()} at {listing(map(_clock, self.at))}, {self.zone}"

    def canonical(self) -> str:
        return f"calendar {self.days.canonical()} at {','.join(map(_clock, self.at))} {self.zone}"


def daily(*, at: str | Sequence[str], zone: str = "UTC") -> Calendar:
    """Every day at `at`.

    Raises:
        InvalidSchedule: a time that is not "HH:MM", or no such zone. The other builders raise it too.
    """
    return _calendar(DaysOfWeek(tuple(Weekday)), at, zone)


def weekly(*days: Weekday, at: str | Sequence[str], zone: str = "UTC") -> Calendar:
    """Every week on `days`: `weekly(MON, WED, at="08:30")`."""
    return _calendar(DaysOfWeek(days), at, zone)


def monthly(day: int | DayOfMonthRule, *, at: str | Sequence[str], zone: str = "UTC", clamp: bool = False) -> Calendar:
    """Every month on `day`: its number, or a rule such as `LAST_BUSINESS_DAY` or `NthWeekday(2, TUE)`.

    A month that lacks the number is skipped; with `clamp` it fires on its last day instead.
    """
    if isinstance(day, int):
        return _calendar(DayOfMonth(day=day, clamp=clamp), at, zone)
    of_class("day", day, get_args(DayOfMonthRule), "Give a number, or a rule such as LAST_DAY or NthWeekday(2, TUE).")
    if clamp:
        raise InvalidSchedule(f"clamp is for the number of a day, and {day.describe()} comes as it is. Leave it out.")
    return _calendar(day, at, zone)


def last_day(*, at: str | Sequence[str], zone: str = "UTC") -> Calendar:
    """Every month on its last day."""
    return monthly(LAST_DAY, at=at, zone=zone)


def nth_weekday(nth: int, weekday: Weekday, *, at: str | Sequence[str], zone: str = "UTC") -> Calendar:
    """Every month on its `nth` such weekday; without a fifth one it is skipped."""
    return monthly(NthWeekday(nth, weekday), at=at, zone=zone)


def last_weekday(weekday: Weekday, *, at: str | Sequence[str], zone: str = "UTC") -> Calendar:
    """Every month on its last such weekday."""
    return monthly(LastWeekday(weekday), at=at, zone=zone)


def nth_business_day(
    nth: int, *, at: str | Sequence[str], zone: str = "UTC", holidays: HolidayCalendar | None = None
) -> Calendar:
    """Every month on its `nth` day of Monday to Friday that is not in `holidays`; with fewer it is skipped."""
    return monthly(NthBusinessDay(nth, holidays), at=at, zone=zone)


def last_business_day(
    *, at: str | Sequence[str], zone: str = "UTC", holidays: HolidayCalendar | None = None
) -> Calendar:
    """Every month on its last day of Monday to Friday that is not in `holidays`."""
    return monthly(LastBusinessDay(holidays), at=at, zone=zone)


def yearly(*, month: int, day: int, at: str | Sequence[str], zone: str = "UTC", clamp: bool = False) -> Calendar:
    """Every year on a date. 29 February is skipped in common years; with `clamp` it fires on the 28th instead."""
    return _calendar(DayOfMonth(day=day, month=month, clamp=clamp), at, zone)


def _calendar(days: DaysOfWeek | DayOfMonthRule, at: str | Sequence[str], zone: str) -> Calendar:
    minutes = parse_times(at)
    load_zone(zone)
    return Calendar(days=days, at=minutes, labels=LocalTimes(days, DayTimes.of_minutes(minutes)), zone=zone, wild=False)


def _clock(minute: int) -> str:
    return clock(minute * 60)
