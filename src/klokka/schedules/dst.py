"""The one rule for clock changes: from matching wall times (M) to instants (T), whatever the zone does.

A *wild* schedule fires at all u with local(u) in M: times that do not exist give nothing, and both passes of a repeated
hour fire. Every other one is *fixed* and fires at first(l) for l in M: the earliest u with local(u) = l, or, where l
does not exist, the instant of the transition that skipped it. first(l) never falls as l grows, so a fixed schedule needs
no more than the first wall time that has not been reached yet.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from klokka.core.instants import FIRST, MICROSECOND, aware
from klokka.schedules.clock_changes import (
    CALM,
    Repeat,
    calm_until,
    first_occurrence,
    gap_end,
    offset_at,
    offsets_of,
    to_instant,
    wall_at,
)
from klokka.schedules.clock_notes import clock_note
from klokka.schedules.local_times import LocalTimes
from klokka.schedules.zones import load_zone

_BEGIN: Final = datetime.min  # noqa: DTZ901 a wall time
_END: Final = datetime.max  # noqa: DTZ901 a wall time


@dataclass(frozen=True, slots=True, kw_only=True)
class ZonedSchedule:
    """Matching wall times in a zone, as instants: the half that every schedule by the clock on the wall has."""

    labels: LocalTimes = field(repr=False)
    zone: str
    wild: bool = field(repr=False)

    def next(self, after: datetime) -> datetime | None:
        """The first tick later than `after`; None where the year 9999 ends."""
        after = aware(after, "after")
        zone = load_zone(self.zone)
        if (wall := wall_at(zone, after)) is None:
            return self._first(zone, _BEGIN, after) if after.year == 1 else None
        start = wall.replace(fold=0) + MICROSECOND if wall < _END else _END
        if repeat := Repeat.around(zone, after, wall):
            if self.wild and not wall.fold:
                ahead = self._from(start)
                if ahead is not None and ahead < repeat.end:
                    return to_instant(ahead, repeat.first)
                start = repeat.begin
            elif wall.fold and not self.wild:
                start = repeat.end
        return self._first(zone, start, after)

    def prev(self, before: datetime) -> datetime | None:
        """The last tick earlier than `before`; None where the year 1 begins."""
        before = aware(before, "before")
        if before == FIRST:
            return None
        until = before - MICROSECOND
        zone = load_zone(self.zone)
        if (wall := wall_at(zone, until)) is None:
            return None if until.year == 1 else self._last(zone, _END, until)
        start = wall.replace(fold=0)
        if wall.fold and (repeat := Repeat.around(zone, until, wall)):
            behind = self._until(start) if self.wild else None
            if behind is not None and behind >= repeat.begin:
                return to_instant(behind, repeat.second)
            start = repeat.end - MICROSECOND
        return self._last(zone, start, until)

    def ticks(self, after: datetime) -> Iterator[datetime]:
        """The ticks later than `after`, in order: what `next` of each gives, at a twentieth of the price.

        Wall times are read under the offset of the tick before, until one of them is no longer under it.
        """
        zone = load_zone(self.zone)
        tick = self.next(after)
        while tick is not None:
            yield tick
            offset = offset_at(zone, tick)
            calm = _BEGIN
            for label in self.labels.ascending((tick + offset).replace(tzinfo=None) + MICROSECOND):
                if label >= calm:
                    if not self._stays(zone, offset, label, tick):
                        break
                    calm = calm_until(zone, label)
                if (following := to_instant(label, offset)) is None:
                    return
                tick = following
                yield tick
            else:
                return
            tick = self.next(tick)

    def note(self, tick: datetime) -> str | None:
        """What a change of the clocks does to this tick, in words; None if nothing."""
        return clock_note(self.labels, self.zone, tick, wild=self.wild)

    def _stays(self, zone: ZoneInfo, offset: timedelta, label: datetime, tick: datetime) -> bool:
        """Whether `label`, the next to match after `tick`, surely fires under the offset that `tick` has."""
        first, second = offsets_of(zone, label)
        if not self.wild:
            return offset == first >= second
        # farther on, a second pass may have come in between, or `label` may repeat in another year
        near = label - (tick + offset).replace(tzinfo=None) < CALM
        return near and (offset == first >= second or offset == second < first)

    def _first(self, zone: ZoneInfo, start: datetime, after: datetime) -> datetime | None:
        """The first tick later than `after`, of the wall times from `start` on."""
        while (label := self._from(start)) is not None:
            if not self.wild:
                return first_occurrence(zone, label)
            first, second = offsets_of(zone, label)
            if first >= second:
                tick = to_instant(label, first)
                return tick if tick is None or tick > after else to_instant(label, second)
            start = gap_end(zone, label).replace(tzinfo=None) + second
        return None

    def _last(self, zone: ZoneInfo, start: datetime, until: datetime) -> datetime | None:
        """The last tick not later than `until`, of the wall times from `start` back."""
        while (label := self._until(start)) is not None:
            if not self.wild:
                return first_occurrence(zone, label)
            first, second = offsets_of(zone, label)
            if first >= second:
                tick = to_instant(label, second)
                return tick if tick is not None and tick <= until else to_instant(label, first)
            start = gap_end(zone, label).replace(tzinfo=None) + first - MICROSECOND
        return None

    def _from(self, start: datetime) -> datetime | None:
        return next(self.labels.ascending(start), None)

    def _until(self, start: datetime) -> datetime | None:
        return next(self.labels.descending(start), None)
