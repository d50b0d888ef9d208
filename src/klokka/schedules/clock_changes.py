"""Where a zone's clocks are and where they jump: what the rule of `dst` is built from.

In the whole database two transitions are at least six days apart and none moves the clocks by more than 24 hours. So what
a transition skips or repeats can be told from the offsets of a wall time alone, and is found by halving a short stretch.
Wall times ("labels") are naive and of fold 0.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, Self, cast
from zoneinfo import ZoneInfo

from klokka.core.instants import EPOCH

_EPOCH: Final = EPOCH.replace(tzinfo=None)
CALM: Final = timedelta(days=5)
"""No stretch of this length has two transitions."""
_STRETCHES: Final = (CALM, timedelta(hours=12), timedelta(hours=1))
_LAST_CALM: Final = datetime.max - CALM  # noqa: DTZ901 a wall time


def wall_at(zone: ZoneInfo, instant: datetime) -> datetime | None:
    """The naive wall time, with its fold; None where it lies outside of the years 1 to 9999."""
    try:
        return instant.astimezone(zone).replace(tzinfo=None)
    except OverflowError:
        return None


def to_instant(label: datetime, offset: timedelta) -> datetime | None:
    """The instant of a wall time under an offset; None outside of the years 1 to 9999."""
    try:
        return EPOCH + (label - _EPOCH - offset)  # a quarter of the time that `replace` takes
    except OverflowError:
        return None


def offset_at(zone: ZoneInfo, instant: datetime) -> timedelta:
    """What the wall clock adds to UTC at an aware instant."""
    return cast("timedelta", instant.astimezone(zone).utcoffset())


def offsets_of(zone: ZoneInfo, label: datetime) -> tuple[timedelta, timedelta]:
    """The offsets under which a wall time is read: at its first and at its second occurrence.

    Equal for an ordinary time. The first is larger where the time occurs twice, and smaller where it is skipped:
    then they are the offsets before and after the transition.
    """
    first = cast("timedelta", zone.utcoffset(label))
    return first, cast("timedelta", zone.utcoffset(label.replace(fold=1)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeat:
    """A stretch of wall times that comes twice: from `begin` up to but not including `end`."""

    begin: datetime
    end: datetime
    first: timedelta
    second: timedelta

    @classmethod
    def around(cls, zone: ZoneInfo, instant: datetime, wall: datetime) -> Self | None:
        """The one that an instant lies in, in either pass; `wall` is its wall time with its fold."""
        first, second = offsets_of(zone, wall.replace(fold=0))
        if first <= second:
            return None
        start = instant - (first - second) if wall.fold else instant
        change = _transition(zone, start, start + (first - second)).replace(tzinfo=None)
        return cls(begin=change + second, end=change + first, first=first, second=second)


def calm_until(zone: ZoneInfo, label: datetime) -> datetime:
    """A wall time up to which those from `label` on all have its one offset; `label` itself if that is not sure.

    A single transition in the stretch would show at its end.
    """
    first, second = offsets_of(zone, label)
    if first == second and label <= _LAST_CALM:
        for stretch in _STRETCHES:
            if offsets_of(zone, label + stretch) == (first, first):
                return label + stretch
    return label


def gap_end(zone: ZoneInfo, label: datetime) -> datetime:
    """The instant of the transition that skips `label`."""
    before, after = offsets_of(zone, label)
    utc = label.replace(tzinfo=UTC)
    return _transition(zone, utc - after, utc - before)


def first_occurrence(zone: ZoneInfo, label: datetime) -> datetime | None:
    """first(l): the earliest instant with this wall time, or the end of the gap that it lies in."""
    first, second = offsets_of(zone, label)
    return to_instant(label, first) if first >= second else gap_end(zone, label)


def _transition(zone: ZoneInfo, low: datetime, high: datetime) -> datetime:
    """The instant in (low, high] at which the zone takes the offset that it has at `high`; there must be one."""
    low = low.replace(microsecond=0)
    target = offset_at(zone, high)
    before, after = 0, int((high - low).total_seconds())
    while after - before > 1:
        middle = (before + after) // 2
        if offset_at(zone, low + timedelta(seconds=middle)) == target:
            after = middle
        else:
            before = middle
    return low + timedelta(seconds=after)
