"""The verbs of schedules. A store keeps and claims rows; it never reads a cron expression or a fingerprint."""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Protocol

from klokka.core.ids import Fence, ScheduleId, WorkerId
from klokka.core.records import EnqueueResult, NewJob
from klokka.core.schedule_records import ScheduleFire, ScheduleSpec


class ScheduleVerbs(Protocol):
    """What every store does with schedules."""

    async def upsert_schedules(self, specs: Sequence[ScheduleSpec]) -> None:
        """Makes the rows agree with the definitions, without ever firing again what was fired.

        [schedule.upsert-new] An unknown id is inserted with `next_fire_at = fire_at`.
        [schedule.upsert-same] An equal fingerprint writes nothing at all.
        [schedule.upsert-changed] Another fingerprint overwrites kind, fingerprint, description and `next_fire_at`,
        clears the lease and bumps the fence, so that a fire under the old definition cannot be completed.
        [schedule.upsert-last] The last writer wins, within one call too.
        [schedule.upsert-keeps] Nothing is ever deleted, and a pause stays.
        """
        ...

    async def due_schedules(
        self, *, ids: Collection[ScheduleId], limit: int, lease: timedelta, worker: WorkerId
    ) -> list[ScheduleFire]:
        """Takes up to `limit` due schedules under a lease, soonest first.

        [schedule.due] Only rows in `ids`, not paused, with a `next_fire_at` not in the future, under no unexpired
        lease, the caller's own included; each under a lease and a higher fence, by one atomic claim. `now` is the
        store's, `fingerprint` the row's. No ids, no fires; a negative `limit` is an error.
        [schedule.crash] A fire whose holder died is due again when its lease ends.
        """
        ...

    async def complete_fire(
        self, schedule_id: ScheduleId, *, fence: Fence, runs: Sequence[NewJob], next_fire_at: datetime | None
    ) -> list[EnqueueResult] | None:
        """Stores the runs of a fire and the next one, in one transaction.

        [schedule.complete] Inserts `runs` by the rules of enqueue, sets `next_fire_at` (None makes it dormant) and
        `last_fired_at` to the store's now, releases the lease and uses the fence up: sent twice, it applies once. No
        runs is legal and gives an empty list.
        [schedule.fence] Any other fence, an unknown id or a schedule without a lease gives None, changes nothing and
        inserts nothing. A lease that ended and that nobody took over refuses nothing.
        """
        ...
