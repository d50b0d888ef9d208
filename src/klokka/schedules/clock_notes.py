"""What a change of the clocks does to a tick, in words, for those who read a schedule and not its rule."""

from datetime import datetime, timedelta
from typing import Final

from klokka.schedules.clock_changes import offset_at, offsets_of
from klokka.schedules.local_times import LocalTimes
from klokka.schedules.zones import load_zone

_SECOND: Final = timedelta(seconds=1)


def clock_note(labels: LocalTimes, zone_name: str, tick: datetime, *, wild: bool) -> str | None:
    """A sentence for a tick in a repeated hour or at the end of a gap that it stands for; else None."""
    if tick.year == 1:
        return None  # no clock was changed in it, and there may be no second before
    zone = load_zone(zone_name)
    wall = tick.astimezone(zone).replace(tzinfo=None)
    first, second = offsets_of(zone, wall.replace(fold=0))
    if first > second:
        if wild:
            return f"{wall:%H:%M} comes twice on this date: the {'second' if wall.fold else 'first'} time"
        return f"{wall:%H:%M} comes twice on this date: it fires the first time only"
    before = offset_at(zone, tick - _SECOND)
    start = (tick + before).replace(tzinfo=None)
    if not wild and start < wall:
        skipped = next(labels.ascending(start), wall)
        if skipped < wall:
            form = "%H:%M" if start.date() == wall.date() else "%Y-%m-%d %H:%M"
            jump = f"{start.strftime(form)} to {wall.strftime(form)}"
            return f"{skipped:%Y-%m-%d %H:%M} does not exist: clocks go from {jump}, and it fires there"
    return None
