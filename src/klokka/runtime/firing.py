"""What follows from a due fire: pure, by the misfire policy and the fire's own present."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from klokka.core.records import NewJob
from klokka.core.schedule_records import ScheduleFire
from klokka.runtime.recurrence import Recurrence
from klokka.schedules.counting import Count
from klokka.schedules.misfire import FireOnce, Skip, decide

_STEP: Final = 1000
"""Runs that one transaction stores. What a schedule makes up for beyond that is due again at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Firing:
    """A decided fire: what `complete_fire` is to store, and the ticks that get no run.

    `unfinished`: more of it is to be stored, in a fire of its own that is due already.
    """

    recurrence: Recurrence
    fire: ScheduleFire
    ticks: tuple[datetime, ...]
    runs: tuple[NewJob, ...]
    next_fire_at: datetime | None
    missed: Count
    unfinished: bool


def firing(recurrence: Recurrence, fire: ScheduleFire, *, now: datetime, held_back: bool = False) -> Firing:
    """The decision at `now`, the store's; a fire that was `held_back` for the run before it is not late by that.

    Of many only the first are stored, where runs may not overlap only the first, and the next tick to decide on is the
    one after them.
    """
    policy = recurrence.misfire
    if held_back and isinstance(policy, Skip):
        policy = FireOnce(threshold=policy.threshold)
    decision = decide(recurrence.schedule, fire.scheduled_for, max(now, fire.scheduled_for), policy)
    ticks, next_fire_at = decision.fires, decision.next_fire_at
    most = _STEP if recurrence.overlap else 1
    if len(ticks) > most:
        ticks, next_fire_at = ticks[:most], ticks[most]
    return Firing(
        recurrence=recurrence,
        fire=fire,
        ticks=ticks,
        runs=tuple(recurrence.run(tick) for tick in ticks),
        next_fire_at=next_fire_at,
        missed=decision.skipped,
        unfinished=recurrence.overlap and len(ticks) < len(decision.fires),
    )
