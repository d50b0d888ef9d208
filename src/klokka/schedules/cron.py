"""`cron(...)`: an expression and a zone as a schedule. cronsim decides which days match; the search is ours.

cronsim sees naive dates alone, and only what our grammar has let through.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import lru_cache
from typing import Final

from cronsim import CronSim

from klokka.schedules.arguments import of_class
from klokka.schedules.clock_times import DayTimes
from klokka.schedules.cron_fields import DAY, CronFields
from klokka.schedules.cron_grammar import LONGEST, parse, refusal
from klokka.schedules.cron_wording import words
from klokka.schedules.dst import ZonedSchedule
from klokka.schedules.local_times import LocalTimes, month_length
from klokka.schedules.zones import load_zone

MACROS: Final = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
_FOREIGN: Final = {
    "@reboot": "A schedule knows no boot: enqueue where your program starts.",
    "@every": "Use every(timedelta(minutes=5)).",
}
"""Macros of other dialects, and what to use here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CronDays:
    """The days that an expression matches: of `candidates`, the numbers that can, those that cronsim takes."""

    expression: str
    months: tuple[int, ...]
    candidates: tuple[int, ...]

    def days_in(self, year: int, month: int) -> Sequence[int]:
        return _matching(self.expression, self.candidates, year, month) if month in self.months else ()


@lru_cache(maxsize=1024)
def _matching(expression: str, candidates: tuple[int, ...], year: int, month: int) -> tuple[int, ...]:
    matcher = _matcher(expression)
    last = month_length(year, month)
    return tuple(day for day in candidates if day <= last and matcher.match_day(date(year, month, day)))


@lru_cache(maxsize=256)
def _matcher(expression: str) -> CronSim:
    return CronSim(expression, datetime.min)  # noqa: DTZ901 a cursor that is never moved


@dataclass(frozen=True, slots=True, kw_only=True)
class Cron(ZonedSchedule):
    """A cron expression in a zone; see `cron`. `str()` gives the expression, which parses to an equal value."""

    expression: str
    seconds: bool
    fields: CronFields = field(repr=False)

    def __str__(self) -> str:
        return self.expression

    def describe(self) -> str:
        return f"{words(self.fields)}, {self.zone}"

    def canonical(self) -> str:
        return f"cron {self.fields.canonical()} {self.zone}"


def cron(expression: str, *, zone: str = "UTC", seconds: bool = False) -> Cron:
    """A schedule from five cron fields, or with `seconds=True` six, seconds first, read in `zone`.

    If the minute or hour (or second) begins with `*` it follows the clock face: what a clock change skips does not
    fire, what it repeats fires twice. Else each wall time fires once: the first time that it comes, or, where it is
    skipped, when the gap ends. If a day field begins with `*` both day fields must match, else either.

    Raises:
        InvalidSchedule: outside of the grammar, never firing, or no such zone; with field, position and a hint.
    """
    load_zone(zone)
    of_class("expression", expression, str, 'Give a text such as "0 9 * * 1-5".')
    macro = expression.strip(" \t") if len(expression) <= LONGEST else ""
    if macro.startswith("@"):
        expression = ("0 " if seconds else "") + _expand(expression, macro)
    fields = parse(expression, seconds=seconds)
    if not fields.fires:
        hint = "Name a day that one of the months has, or last_day(at=…) for its end."
        raise refusal(expression, None, "no month that it names has such a day, so it never fires", hint, DAY)
    text = " ".join(expression.upper().split())
    candidates = fields.day.values if fields.both_days else tuple(range(1, 32))
    days = CronDays(expression=text, months=fields.month.values, candidates=candidates)
    times = DayTimes.of_fields(fields.hour.values, fields.minute.values, fields.second.values)
    return Cron(
        expression=text,
        seconds=seconds,
        fields=fields,
        labels=LocalTimes(days, times),
        zone=zone,
        wild=fields.wild,
    )


def _expand(expression: str, text: str) -> str:
    name = text.lower()
    if name in MACROS and text.isascii():
        return MACROS[name]
    known = f"Known: {', '.join(MACROS)}."
    hint = next((hint for word, hint in _FOREIGN.items() if name.startswith(word)), known)
    raise refusal(expression, expression.index("@"), "it is not a macro of this grammar", hint)
