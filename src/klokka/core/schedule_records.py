"""The records of schedules and their fires, as they cross the storage contract."""

from dataclasses import dataclass
from datetime import datetime

from klokka.core.ids import Fence, ScheduleId


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleSpec:
    """A definition to register. Stores compare `fingerprint` for equality and never read it."""

    id: ScheduleId
    kind: str
    fingerprint: str
    description: str
    fire_at: datetime | None
    """The first fire; None registers the schedule dormant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleFire:
    """One due schedule held under a lease. `now` is the store's clock at the claim."""

    schedule_id: ScheduleId
    fingerprint: str
    scheduled_for: datetime
    now: datetime
    fence: Fence


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleRow:
    """A schedule as the store knows it. `paused` is the reason, or None."""

    id: ScheduleId
    kind: str
    fingerprint: str
    description: str
    next_fire_at: datetime | None
    last_fired_at: datetime | None
    lease_until: datetime | None
    fence: Fence
    paused: str | None
