"""Schedules: rows, fires under a lease, and their completion."""

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Final

import msgspec

from klokka.core.ids import MAX_ID, Fence, ScheduleId, WorkerId
from klokka.core.records import EnqueueResult, NewJob
from klokka.core.schedule_records import ScheduleFire, ScheduleSpec
from klokka.stores._doors import check_holding, check_specs, known_fence
from klokka.stores.postgres.database import Transaction
from klokka.stores.postgres.handle import Handle
from klokka.stores.postgres.inserts import rendered, results
from klokka.stores.postgres.parameters import instant, span, texts
from klokka.stores.postgres.rows import schedule_fire

_ENCODE: Final = msgspec.json.Encoder().encode


class Scheduling(Handle):
    """Implements `ScheduleVerbs`."""

    async def upsert_schedules(self, specs: Sequence[ScheduleSpec]) -> None:
        check_specs(specs, self._setting.limits)
        rounds = [_definitions(distinct) for distinct in _rounds(specs)]

        async def act(tx: Transaction) -> None:
            for definitions in rounds:
                await tx.run("upsert_schedules", definitions)

        if len(rounds) == 1:
            await self._database.write("upsert_schedules", rounds[0])
        elif rounds:
            await self._database.transact(act)

    async def due_schedules(
        self, *, ids: Collection[ScheduleId], limit: int, lease: timedelta, worker: WorkerId
    ) -> list[ScheduleFire]:
        check_holding(worker, lease, limit)
        if not (ids and limit):
            return []
        rows = await self._database.write("due_schedules", texts(ids), str(min(limit, MAX_ID)), span(lease), worker)
        return sorted(map(schedule_fire, rows), key=lambda fire: (fire.scheduled_for, fire.schedule_id))

    async def complete_fire(
        self, schedule_id: ScheduleId, *, fence: Fence, runs: Sequence[NewJob], next_fire_at: datetime | None
    ) -> list[EnqueueResult] | None:
        self._setting.limits.admit(runs)
        next_at = None if next_fire_at is None else instant(next_fire_at)
        insert = rendered(runs) if runs else None
        if not known_fence(fence):
            return None
        completion = (schedule_id, str(fence), next_at)
        if insert is None:
            return [] if await self._database.write("complete_fire", *completion) else None
        rows = await self._database.write_gated("complete_fire", insert.name, *completion, insert.jobs)
        return results(rows) if rows else None


def _rounds(specs: Sequence[ScheduleSpec]) -> Iterator[list[ScheduleSpec]]:
    """The definitions in as few groups of distinct ids as keep the order of equal ones [schedule.upsert-last]."""
    groups: list[dict[ScheduleId, ScheduleSpec]] = []
    for spec in specs:
        group = next((group for group in groups if spec.id not in group), None)
        if group is None:
            groups.append(group := {})
        group[spec.id] = spec
    return (list(group.values()) for group in groups)


def _definitions(specs: Sequence[ScheduleSpec]) -> str:
    return _ENCODE(
        [
            {
                "id": spec.id,
                "kind": spec.kind,
                "fingerprint": spec.fingerprint,
                "description": spec.description,
                "fire_at": None if spec.fire_at is None else instant(spec.fire_at),
            }
            for spec in specs
        ]
    ).decode()
