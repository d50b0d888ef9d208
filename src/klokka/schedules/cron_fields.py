"""The six fields of a cron expression: what each may say, and what an expression said, as values."""

from calendar import monthrange
from dataclasses import dataclass
from typing import Final

LEAP_YEAR: Final = 2024
"""Any leap year: the lengths that months can have at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldKind:
    """A field's name and range. `names[i]` means `low + i`; `span` is the largest step that still repeats."""

    name: str
    low: int
    high: int
    span: int
    names: tuple[str, ...] = ()

    def value(self, word: str) -> int | None:
        """The number that a digit string or an upper-case name stands for; None if it is not of this field."""
        if word.isdigit():
            number = int(word)
            return number if self.low <= number <= self.high else None
        return self.low + self.names.index(word) if word in self.names else None


SECOND: Final = FieldKind(name="second", low=0, high=59, span=59)
MINUTE: Final = FieldKind(name="minute", low=0, high=59, span=59)
HOUR: Final = FieldKind(name="hour", low=0, high=23, span=23)
DAY: Final = FieldKind(name="day of month", low=1, high=31, span=30)
MONTH: Final = FieldKind(
    name="month",
    low=1,
    high=12,
    span=11,
    names=("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"),
)
WEEKDAY: Final = FieldKind(
    name="day of week", low=0, high=7, span=6, names=("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")
)
KINDS: Final = (SECOND, MINUTE, HOUR, DAY, MONTH, WEEKDAY)


@dataclass(frozen=True, slots=True, kw_only=True)
class CronField:
    """The values of one field, ascending, and whether it begins with `*`: that flag decides about days and clocks."""

    values: tuple[int, ...]
    star: bool

    def canonical(self) -> str:
        return ("*" if self.star else "") + ",".join(map(str, self.values))


@dataclass(frozen=True, slots=True, kw_only=True)
class CronFields:
    """An expression, parsed. Sunday is 0; without a field of seconds, `second` is 0 alone."""

    second: CronField
    minute: CronField
    hour: CronField
    day: CronField
    month: CronField
    weekday: CronField

    @property
    def wild(self) -> bool:
        """Whether it follows the clock face through changes instead of firing once for each wall time."""
        return self.second.star or self.minute.star or self.hour.star

    @property
    def both_days(self) -> bool:
        """Whether day of month and day of week must both match, and not either."""
        return self.day.star or self.weekday.star

    @property
    def fires(self) -> bool:
        """Whether any date matches.

        A weekday of its own always comes. If both must match, it is enough that some month is long enough for some day:
        over the 400 years of the calendar each date falls on each day of the week.
        """
        longest = max(monthrange(LEAP_YEAR, month)[1] for month in self.month.values)
        return not self.both_days or self.day.values[0] <= longest

    def canonical(self) -> str:
        fields = (self.second, self.minute, self.hour, self.day, self.month, self.weekday)
        return " ".join(field.canonical() for field in fields)
