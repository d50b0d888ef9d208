"""Schedules: rows, fires under a lease, and their completion."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from klokka.core.ids import Fence, ScheduleId, WorkerId
from klokka.core.instants import after, aware, positive
from klokka.core.names import check_key, check_kind, check_text
from klokka.core.records import EnqueueResult, NewJob
from klokka.core.schedule_records import ScheduleFire, ScheduleSpec
from klokka.errors import InvalidInput
from klokka.stores.memory.handle import LIMITS, Handle
from klokka.stores.memory.rows import ScheduleState


class Scheduling(Handle):
    """Implements `ScheduleVerbs`."""

    async def upsert_schedules(self, specs: Sequence[ScheduleSpec]) -> None:
        wanted = [admitted(spec) for spec in specs]
        with self._statement():
            for spec in wanted:
                known = self._data.schedules.get(spec.id)
                if known is None:
                    self._data.schedules[spec.id] = ScheduleState(spec=spec, next_fire_at=spec.fire_at)
                elif known.spec.fingerprint != spec.fingerprint:
                    known.spec = spec
                    known.next_fire_at = spec.fire_at
                    known.withdraw()

    async def due_schedules(
        self,
        *,
        ids: Collection[ScheduleId],
        limit: int,
        lease: timedelta,
        worker: WorkerId,  # noqa: ARG002 - the fence alone says who holds a fire
    ) -> list[ScheduleFire]:
        if limit < 0:
            raise InvalidInput(f"limit must be zero or more, not {limit}.")
        positive(lease, "lease")
        fires: list[ScheduleFire] = []
        with self._statement() as now:
            until = after(now, lease, "lease")
            due = [
                (row.next_fire_at, schedule, row)
                for schedule in set(ids)
                if (row := self._data.schedules.get(schedule)) is not None
                and row.paused is None
                and row.next_fire_at is not None
                and row.next_fire_at <= now
                and (row.lease_until is None or row.lease_until <= now)
            ]
            for scheduled_for, schedule, row in sorted(due, key=lambda entry: entry[:2])[:limit]:
                row.lease_until = until
                row.fence += 1
                fires.append(
                    ScheduleFire(
                        schedule_id=schedule,
                        fingerprint=row.spec.fingerprint,
                        scheduled_for=scheduled_for,
                        now=now,
                        fence=Fence(row.fence),
                    )
                )
        return fires

    async def complete_fire(
        self, schedule_id: ScheduleId, *, fence: Fence, runs: Sequence[NewJob], next_fire_at: datetime | None
    ) -> list[EnqueueResult] | None:
        LIMITS.admit(runs)
        next_at = None if next_fire_at is None else aware(next_fire_at, "next_fire_at")

        def complete(now: datetime) -> list[EnqueueResult] | None:
            row = self._data.schedules.get(schedule_id)
            if row is None or row.lease_until is None or row.fence != fence:
                return None
            results = self._data.insert(runs, now)
            row.next_fire_at = next_at
            row.last_fired_at = now
            row.withdraw()
            return results

        return await self._settled(complete)


def admitted(spec: ScheduleSpec) -> ScheduleSpec:
    """The definition with its time in UTC.

    Raises:
        InvalidInput: a name, text or time that no store takes.
    """
    check_key("schedule id", spec.id, LIMITS.name)
    check_kind(spec.kind)
    check_text("fingerprint", spec.fingerprint)
    check_text("description", spec.description)
    return replace(spec, fire_at=None if spec.fire_at is None else aware(spec.fire_at, "fire_at"))
