"""A schedule as an object of a history: each fire is completed at most once, under the current fence [schedule.fence]."""

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from klokka.core.ids import ScheduleId
from klokka.tck.history.fences import unheard
from klokka.tck.history.moments import Moments
from klokka.tck.history.order import Event, Object
from klokka.tck.history.record import Operation
from klokka.tck.model.timetable import ModelSchedule


@dataclass(frozen=True, slots=True)
class ScheduleStanding:
    now: datetime
    exact: bool
    row: ModelSchedule | None = None


def schedule_object(moments: Moments, *, exact: bool) -> Object[ScheduleStanding]:
    """Schedules of a history with these moments."""

    def step(state: ScheduleStanding, event: Event) -> Iterable[ScheduleStanding]:
        if event.what == "advance":
            return [replace(state, now=state.now + event.operation.asked["by"])]
        times = moments.possible(event.operation, state.now)
        return (replace(after, now=state.now) for now in times for after in _step(replace(state, now=now), event))

    return Object(ScheduleStanding(moments.begin, exact), step, _key)


def schedule_events(operations: Iterable[Operation]) -> dict[ScheduleId, list[Event]]:
    """What the operations mean to each schedule."""
    operations = list(operations)
    events: dict[ScheduleId, list[Event]] = {}
    for operation in operations:
        for id_, event in _meant(operation):
            events.setdefault(id_, []).append(event)
    for operation in operations:
        if operation.verb == "advance":
            for of_schedule in events.values():
                of_schedule.append(Event(operation, "advance"))
    return events


def _meant(operation: Operation) -> Iterator[tuple[ScheduleId, Event]]:
    asked = operation.asked
    match operation.verb:
        case "upsert_schedules":
            for spec in asked["specs"]:
                yield spec.id, Event(operation, "upsert", spec)
        case "due_schedules":
            for fire in operation.answer if operation.known else ():
                yield fire.schedule_id, Event(operation, "fire", fire)
            for id_ in () if operation.known else asked["ids"]:
                yield id_, Event(operation, "unheard")
        case "complete_fire":
            yield asked["schedule_id"], Event(operation, "complete", operation.answer)
        case "pause_schedule" | "resume_schedule":
            yield asked["id"], Event(operation, operation.verb, operation.answer)
        case _:
            return


def _key(standing: ScheduleStanding) -> Hashable:
    row = standing.row
    if row is None:
        return standing.now
    return standing.now, row.fence, row.lease_until, row.next_fire_at, row.spec.fingerprint, row.paused


def _step(standing: ScheduleStanding, event: Event) -> Iterable[ScheduleStanding]:
    row, spec = standing.row, event.given
    if event.what == "upsert":
        if row is None:
            return [replace(standing, row=ModelSchedule(spec=spec, next_fire_at=spec.fire_at))]
        if row.spec.fingerprint == spec.fingerprint:
            return [standing]
        return [replace(standing, row=replace(row.withdrawn(), spec=spec, next_fire_at=spec.fire_at))]
    if row is None:
        return [standing] if event.given is None or event.given is False else []
    rows = _changed(row, standing, event.operation.asked, event)
    return [replace(standing, row=after) for after in rows]


def _changed(
    row: ModelSchedule, standing: ScheduleStanding, asked: Mapping[str, Any], event: Event
) -> list[ModelSchedule]:
    seen, now = event.given, standing.now
    match event.what:
        case "fire":
            right = (seen.fingerprint, seen.scheduled_for) == (row.spec.fingerprint, row.next_fire_at)
            right = right and (seen.now == now or not standing.exact)
            if not row.due(now) or seen.fence <= row.fence or not right:
                return []
            return [replace(row, lease_until=now + asked["lease"], fence=seen.fence)]
        case "unheard":
            taken = replace(row, lease_until=now + asked["lease"], fence=unheard(row.fence))
            return [taken] if row.due(now) else []
        case "complete":
            current = row.lease_until is not None and row.fence == asked["fence"]
            if seen is None:
                return [] if current else [row]
            done = replace(row.withdrawn(), next_fire_at=asked["next_fire_at"], last_fired_at=now)
            return [done] if current else []
        case "pause_schedule":
            return [] if seen is False else [replace(row.withdrawn(), paused=asked["reason"])]
        case _:
            if seen is False:
                return [row] if row.paused is None else []
            resumed = replace(row.withdrawn(), paused=None, next_fire_at=asked["next_fire_at"])
            return [resumed] if row.paused is not None else []
