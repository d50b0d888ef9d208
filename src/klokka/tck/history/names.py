"""An idempotency key and a lease as objects of a history [key.once] [lease.one] [lease.cursor]."""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from klokka.tck.history.fences import is_known, unheard
from klokka.tck.history.moments import Moments
from klokka.tck.history.order import Event, Object
from klokka.tck.history.record import UNKNOWN, Operation

VERBS: Final = {
    "claim_key": "key",
    "release_key": "key",
    "acquire_lease": "name",
    "release_lease": "name",
    "advance_cursor": "lease",
}


@dataclass(frozen=True, slots=True)
class Hold:
    """Who holds a name until when. `by` is a token or an owner; a token that nobody heard is None."""

    now: datetime
    by: Any = None
    until: datetime | None = None
    fence: float = 0
    cursor: datetime | None = None

    @property
    def alive(self) -> bool:
        return self.until is not None and self.now < self.until


def name_object(moments: Moments) -> Object[Hold]:
    """Names of a history with these moments."""

    def step(hold: Hold, event: Event) -> Iterable[Hold]:
        if event.what == "advance":
            return [replace(hold, now=hold.now + event.operation.asked["by"])]
        times = moments.possible(event.operation, hold.now)
        return (replace(after, now=hold.now) for now in times for after in _step(replace(hold, now=now), event))

    return Object(Hold(moments.begin), step, _key)


def name_events(operations: Iterable[Operation]) -> dict[str, list[Event]]:
    """What the operations mean to each key and each lease. Every lease has a cursor of its own."""
    operations = list(operations)
    events: dict[str, list[Event]] = {}
    for operation in operations:
        if operation.verb in VERBS:
            name = operation.asked[VERBS[operation.verb]]
            events.setdefault(name, []).append(Event(operation, operation.verb, operation.answer))
    for operation in operations:
        if operation.verb == "advance":
            for of_name in events.values():
                of_name.append(Event(operation, "advance"))
    return events


def _key(hold: Hold) -> Hashable:
    return hold


def _step(hold: Hold, event: Event) -> Iterable[Hold]:
    asked, seen = event.operation.asked, event.given
    match event.what:
        case "claim_key":
            if seen is None:
                return [hold] if hold.alive else []
            token = None if seen is UNKNOWN else seen
            return [] if hold.alive else [replace(hold, by=token, until=hold.now + asked["ttl"])]
        case "release_key":
            owned = hold.alive and hold.by == asked["token"]
            if seen is UNKNOWN or seen:
                return [replace(hold, by=None, until=None)] if owned else []
            return [] if owned else [hold]
        case "acquire_lease":
            return _acquired(hold, asked["owner"], hold.now + asked["ttl"], seen)
        case "release_lease":
            owned = hold.alive and hold.by == asked["owner"]
            if seen is UNKNOWN or seen:
                return [replace(hold, until=hold.now)] if owned else []
            return [] if owned else [hold]
        case _:
            right = hold.alive and hold.fence == asked["fence"] and (hold.cursor is None or asked["to"] > hold.cursor)
            if seen is UNKNOWN or seen:
                return [replace(hold, cursor=asked["to"])] if right else []
            return [] if right else [hold]


def _acquired(hold: Hold, owner: str, until: datetime, seen: Any) -> list[Hold]:
    own = hold.alive and hold.by == owner
    if seen is None:
        return [hold] if hold.alive and not own else []
    if hold.alive and not own:
        return []
    if seen is UNKNOWN:
        return [replace(hold, until=until) if own else Hold(hold.now, owner, until, unheard(hold.fence), hold.cursor)]
    if own:
        renewed = seen == hold.fence if is_known(hold.fence) else seen > hold.fence
        return [replace(hold, until=until, fence=seen)] if renewed else []
    return [Hold(hold.now, owner, until, seen, hold.cursor)] if seen > hold.fence else []
