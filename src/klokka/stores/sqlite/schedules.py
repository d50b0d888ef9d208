"""Schedules: rows that agree with their definitions, fires under a lease."""

import json
from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Final

from klokka.core.ids import MAX_ID, Fence, ScheduleId, WorkerId
from klokka.core.instants import instant, micros
from klokka.core.records import EnqueueResult, NewJob
from klokka.core.schedule_records import ScheduleFire, ScheduleSpec
from klokka.stores._sql.statements import statement
from klokka.stores.sqlite.inserts import enqueue
from klokka.stores.sqlite.plans import reach
from klokka.stores.sqlite.transaction import Transaction

_UPSERT_SCHEDULE: Final = statement("klokka.stores.sqlite", "upsert_schedule")
_DUE_SCHEDULES: Final = statement("klokka.stores.sqlite", "due_schedules")
_CLAIM_SCHEDULE: Final = statement("klokka.stores.sqlite", "claim_schedule")
_COMPLETE_FIRE: Final = statement("klokka.stores.sqlite", "complete_fire")


def upsert_schedules(tx: Transaction, specs: Sequence[ScheduleSpec]) -> None:
    """Makes the rows agree with the definitions, in the order given."""
    for spec in specs:
        fire_at = None if spec.fire_at is None else micros(spec.fire_at)
        row = (spec.id, spec.kind, spec.fingerprint, spec.description, fire_at)
        tx.rung = tx.changed(_UPSERT_SCHEDULE, row) or tx.rung


def due_schedules(
    tx: Transaction, *, ids: Collection[ScheduleId], limit: int, lease: timedelta, worker: WorkerId
) -> list[ScheduleFire]:
    """Takes due schedules under the writer's place: nobody else decides meanwhile."""
    now = tx.now()
    until = reach(now, lease, "lease")
    due = tx.execute(_DUE_SCHEDULES, (json.dumps(list(ids)), now, min(limit, MAX_ID))).fetchall()
    tx.executemany(_CLAIM_SCHEDULE, [(until, worker, row[0]) for row in due])
    return [
        ScheduleFire(
            schedule_id=schedule_id,
            fingerprint=fingerprint,
            scheduled_for=instant(next_fire_at),
            now=instant(now),
            fence=Fence(fence),
        )
        for schedule_id, fingerprint, next_fire_at, fence in due
    ]


def complete_fire(
    tx: Transaction, schedule_id: ScheduleId, *, fence: Fence, runs: Sequence[NewJob], next_fire_at: datetime | None
) -> list[EnqueueResult] | None:
    """Stores the runs and the next fire, or nothing if the fence is used up."""
    next_at = None if next_fire_at is None else micros(next_fire_at)
    if not tx.changed(_COMPLETE_FIRE, (next_at, tx.now(), schedule_id, fence)):
        return None
    return enqueue(tx, runs) if runs else []
