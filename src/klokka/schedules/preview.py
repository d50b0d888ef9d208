"""The next fires of a schedule with what clock changes do to them, for people who want to see before they trust."""

from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from klokka.schedules.schedule import Schedule
from klokka.schedules.zones import load_zone


@dataclass(frozen=True, slots=True, kw_only=True)
class Fire:
    """A tick in UTC and on the wall of the schedule's zone; `notes` are sentences about changed clocks."""

    at: datetime
    local: datetime
    notes: tuple[str, ...]


def preview(schedule: Schedule, *, after: datetime, most: int) -> list[Fire]:
    """Up to `most` fires later than `after`, fewer where the calendar ends."""
    zone = load_zone(schedule.zone)
    fires: list[Fire] = []
    for tick in islice(schedule.ticks(after), most):
        local = tick.astimezone(zone)
        notes = [] if (note := schedule.note(tick)) is None else [note]
        if fires and (before := fires[-1].local).utcoffset() != local.utcoffset():
            notes.append(f"clocks changed since the fire before: UTC{_offset(before)} became UTC{_offset(local)}")
        fires.append(Fire(at=tick, local=local, notes=tuple(notes)))
    return fires


def _offset(local: datetime) -> str:
    return local.isoformat(timespec="seconds").removeprefix(local.replace(tzinfo=None).isoformat(timespec="seconds"))
