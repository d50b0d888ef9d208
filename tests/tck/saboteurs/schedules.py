"""Saboteurs of schedules and of sweeping."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from klokka.core.ids import Fence, ScheduleId
from klokka.core.records import EnqueueResult, RetentionPolicy, SweepReport
from klokka.core.schedule_records import ScheduleFire, ScheduleSpec
from klokka.stores.memory.store import MemoryStore
from tests.tck.saboteurs.registry import breaks


@breaks("schedule.upsert-new")
class BeginsDormant(MemoryStore):
    async def upsert_schedules(self, specs: Sequence[ScheduleSpec]) -> None:
        known = set(self._data.schedules)
        await super().upsert_schedules(specs)
        for new in set(self._data.schedules) - known:
            self._data.schedules[new].next_fire_at = None


@breaks("schedule.upsert-same")
class WritesTheSameDefinitionAgain(MemoryStore):
    async def upsert_schedules(self, specs: Sequence[ScheduleSpec]) -> None:
        await super().upsert_schedules(specs)
        for spec in specs:
            self._data.schedules[spec.id].next_fire_at = spec.fire_at


@breaks("schedule.upsert-changed")
class LeavesTheFenceOfTheOldDefinition(MemoryStore):
    async def upsert_schedules(self, specs: Sequence[ScheduleSpec]) -> None:
        before = {id_: (state.lease_until, state.fence) for id_, state in self._data.schedules.items()}
        await super().upsert_schedules(specs)
        for id_, (lease_until, fence) in before.items():
            self._data.schedules[id_].lease_until = lease_until
            self._data.schedules[id_].fence = fence


@breaks("schedule.upsert-last")
class LetsTheFirstOfACallWin(MemoryStore):
    async def upsert_schedules(self, specs: Sequence[ScheduleSpec]) -> None:
        await super().upsert_schedules(list({spec.id: spec for spec in reversed(specs)}.values()))


@breaks("schedule.upsert-keeps")
class DeletesWhatIsNotNamed(MemoryStore):
    async def upsert_schedules(self, specs: Sequence[ScheduleSpec]) -> None:
        await super().upsert_schedules(specs)
        for gone in set(self._data.schedules) - {spec.id for spec in specs}:
            del self._data.schedules[gone]


@breaks("schedule.upsert-keeps")
class EndsThePause(MemoryStore):
    async def upsert_schedules(self, specs: Sequence[ScheduleSpec]) -> None:
        await super().upsert_schedules(specs)
        for spec in specs:
            self._data.schedules[spec.id].paused = None


@breaks("schedule.due")
class FiresUnderAnOpenLease(MemoryStore):
    async def due_schedules(self, **arguments: Any) -> list[ScheduleFire]:
        for state in self._data.schedules.values():
            state.lease_until = None
        return await super().due_schedules(**arguments)


@breaks("schedule.due")
class FiresWhatNobodyNamed(MemoryStore):
    async def due_schedules(self, **arguments: Any) -> list[ScheduleFire]:
        return await super().due_schedules(**{**arguments, "ids": list(self._data.schedules)})


@breaks("schedule.complete")
class LeavesTheFenceUnused(MemoryStore):
    async def complete_fire(self, schedule_id: ScheduleId, **arguments: Any) -> list[EnqueueResult] | None:
        state = self._data.schedules.get(schedule_id)
        before = None if state is None else (state.lease_until, state.fence)
        results = await super().complete_fire(schedule_id, **arguments)
        if state is not None and before is not None:
            state.lease_until, state.fence = before
        return results


@breaks("schedule.complete")
class ForgetsWhenItFired(MemoryStore):
    async def complete_fire(self, schedule_id: ScheduleId, **arguments: Any) -> list[EnqueueResult] | None:
        results = await super().complete_fire(schedule_id, **arguments)
        if schedule_id in self._data.schedules:
            self._data.schedules[schedule_id].last_fired_at = None
        return results


@breaks("schedule.fence")
class AcceptsAnyFence(MemoryStore):
    async def complete_fire(self, schedule_id: ScheduleId, **arguments: Any) -> list[EnqueueResult] | None:
        state = self._data.schedules.get(schedule_id)
        fence = Fence(0 if state is None else state.fence)
        return await super().complete_fire(schedule_id, **{**arguments, "fence": fence})


@breaks("schedule.fence")
class RefusesAnEndedLease(MemoryStore):
    async def complete_fire(self, schedule_id: ScheduleId, **arguments: Any) -> list[EnqueueResult] | None:
        state = self._data.schedules.get(schedule_id)
        if state is not None and state.lease_until is not None and state.lease_until <= self._data.clock():
            return None
        return await super().complete_fire(schedule_id, **arguments)


@breaks("schedule.crash")
class KeepsTheFiresOfTheDead(MemoryStore):
    async def due_schedules(self, **arguments: Any) -> list[ScheduleFire]:
        fires = await super().due_schedules(**arguments)
        for fire in fires:
            self._data.schedules[fire.schedule_id].lease_until = datetime.max.replace(tzinfo=fire.now.tzinfo)
        return fires


@breaks("sweep.retention")
class SweepsAStepTooEarly(MemoryStore):
    async def sweep(self, retention: RetentionPolicy, *, limit: int = 1000) -> SweepReport:
        step = timedelta(microseconds=1)
        if retention.succeeded_for:
            retention = replace(retention, succeeded_for=retention.succeeded_for - step)
        return await super().sweep(retention, limit=limit)


@breaks("sweep.retention")
class SweepsTheLeases(MemoryStore):
    async def sweep(self, retention: RetentionPolicy, *, limit: int = 1000) -> SweepReport:
        now = self._data.clock()
        self._data.leases = {name: lease for name, lease in self._data.leases.items() if lease.until > now}
        return await super().sweep(retention, limit=limit)


@breaks("sweep.bounded")
class SweepsAllAtOnce(MemoryStore):
    async def sweep(self, retention: RetentionPolicy, *, limit: int = 1000) -> SweepReport:
        return await super().sweep(retention, limit=limit + 1_000_000)
