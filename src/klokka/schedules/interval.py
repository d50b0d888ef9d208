"""Elapsed time: `every(period)`, anchored so that nodes agree and restarts do not drift it."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from klokka.core.instants import EPOCH, LAST, MICROSECOND, instant, micros
from klokka.errors import InvalidSchedule
from klokka.schedules.arguments import of_class
from klokka.schedules.phrases import duration

_NONE: Final = timedelta(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """Ticks at the Unix epoch plus `offset` plus every whole multiple of `period`, before and after it."""

    period: timedelta
    offset: timedelta

    @property
    def zone(self) -> str:
        return "UTC"

    def next(self, after: datetime) -> datetime | None:
        return self._tick((micros(after) - self.offset // MICROSECOND) // (self.period // MICROSECOND) + 1)

    def prev(self, before: datetime) -> datetime | None:
        return self._tick(-((self.offset // MICROSECOND - micros(before)) // (self.period // MICROSECOND)) - 1)

    def ticks(self, after: datetime) -> Iterator[datetime]:
        tick = self.next(after)
        while tick is not None:
            yield tick
            tick = self.next(tick)

    def describe(self) -> str:
        shift = f", offset {duration(self.offset)}" if self.offset else ""
        return f"every {duration(self.period)} of elapsed time{shift}"

    def canonical(self) -> str:
        return f"every {self.period // MICROSECOND} us, offset {self.offset // MICROSECOND} us"

    def note(self, tick: datetime) -> str | None:  # noqa: ARG002 the protocol's; clocks do not touch elapsed time
        return None

    def _tick(self, number: int) -> datetime | None:
        try:
            return instant(number * (self.period // MICROSECOND) + self.offset // MICROSECOND)
        except OverflowError:
            return None


def every(period: timedelta, *, offset: timedelta = _NONE) -> Interval:
    """A tick each `period` of elapsed time, counted from the Unix epoch plus `offset`.

    `timedelta(days=1)` is 24 hours, whatever the clocks do; for a time of day see `daily`. Restarts and nodes do not
    move it: `every(timedelta(hours=2))` is 00:00, 02:00, … in UTC everywhere. An offset counts modulo the period.

    Raises:
        InvalidSchedule: `period` is not longer than nothing, or so long that no tick would follow.
    """
    hint = "Give a timedelta, such as timedelta(hours=1)."
    of_class("period", period, timedelta, hint)
    of_class("offset", offset, timedelta, hint)
    if period <= _NONE:
        raise InvalidSchedule(f"period must be longer than nothing, not {period}. Give one such as timedelta(hours=1).")
    if period > LAST - EPOCH:
        raise InvalidSchedule(f"period {period} is longer than the calendar, so it never fires. Give a shorter one.")
    return Interval(period=period, offset=offset % period)
