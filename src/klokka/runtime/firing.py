"""What follows from a due fire: pure, by the misfire policy and the fire's own present."""

from dataclasses import dataclass
from datetime import datetime

from klokka.core.records import NewJob
from klokka.core.schedule_records import ScheduleFire
from klokka.runtime.recurrence import Recurrence
from klokka.schedules.counting import Count
from klokka.schedules.misfire import FireOnce, Skip, decide


@dataclass(frozen=True, slots=True, kw_only=True)
class Firing:
    """A decided fire: what `complete_fire` is to store, and the ticks that get no run."""

    recurrence: Recurrence
    fire: ScheduleFire
    ticks: tuple[datetime, ...]
    runs: tuple[NewJob, ...]
    next_fire_at: datetime | None
    missed: Count


def firing(recurrence: Recurrence, fire: ScheduleFire, *, now: datetime, held_back: bool = False) -> Firing:
    """The decision at `now`, the store's; a fire that was `held_back` for the run before it is not late by that.

    Where runs may not overlap, only the first of several is stored, and the next tick to decide on is the second.
    """
    policy = recurrence.misfire
    if held_back and isinstance(policy, Skip):
        policy = FireOnce(threshold=policy.threshold)
    decision = decide(recurrence.schedule, fire.scheduled_for, max(now, fire.scheduled_for), policy)
    ticks, next_fire_at = decision.fires, decision.next_fire_at
    if not recurrence.overlap and len(ticks) > 1:
        ticks, next_fire_at = ticks[:1], ticks[1]
    return Firing(
        recurrence=recurrence,
        fire=fire,
        ticks=ticks,
        runs=tuple(recurrence.run(tick) for tick in ticks),
        next_fire_at=next_fire_at,
        missed=decision.skipped,
    )
