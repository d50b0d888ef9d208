"""Days off: a caller's calendar for business days, under an id that says which edition it is."""

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import date
from typing import Protocol, runtime_checkable

from klokka.core.names import check_name, shown
from klokka.errors import InvalidSchedule
from klokka.schedules.arguments import of_class


@runtime_checkable
class HolidayCalendar(Protocol):
    """Which dates are holidays. Pure: one date, one answer, on every node; a change of answers is a new `id`."""

    @property
    def id(self) -> str:
        """Part of the fingerprint: schedules under another id start afresh."""
        ...

    def is_holiday(self, day: date, /) -> bool: ...


@dataclass(frozen=True, slots=True)
class Holidays:
    """A fixed set of dates, for example `Holidays("oslo-2026", {date(2026, 5, 17), …})`."""

    id: str
    dates: Collection[date] = field(repr=False)

    def __post_init__(self) -> None:
        check_name("holidays id", self.id)
        of_class("holidays", self.dates, Collection, "Give a set of dates.")
        for day in self.dates:
            if type(day) is not date:  # a datetime is one by class, and equal to none
                raise InvalidSchedule(
                    f"holidays {self.id} cannot have {shown(day)}. Give a date, as date(2026, 5, 17)."
                )
        object.__setattr__(self, "dates", frozenset(self.dates))

    def is_holiday(self, day: date, /) -> bool:
        return day in self.dates


def check_holidays(holidays: HolidayCalendar | None) -> None:
    """Returns if it is a calendar of holidays or none; else InvalidSchedule."""
    if holidays is not None:
        of_class("holidays", holidays, HolidayCalendar, 'Give Holidays("a-name", dates), or a calendar of your own.')
