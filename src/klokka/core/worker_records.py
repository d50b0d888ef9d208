"""What a worker says of itself, and what a store says of it."""

from dataclasses import dataclass
from datetime import datetime

from klokka.core.ids import ScheduleId, WorkerId


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerBeat:
    """What a worker says of itself with each beat."""

    id: WorkerId
    host: str
    pid: int
    version: str
    queues: tuple[str, ...]
    kinds: tuple[str, ...]
    schedules: tuple[ScheduleId, ...] = ()
    slots: int = 0
    busy: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerRow:
    """A worker as the store saw it last. `live` is judged by the store's clock [fleet.beat]."""

    beat: WorkerBeat
    started_at: datetime
    last_beat: datetime
    live: bool
