"""The schedules of the model: rows, fires under a lease, and their completion."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from klokka.core.ids import Fence, ScheduleId
from klokka.core.records import EnqueueResult, NewJob
from klokka.core.schedule_records import ScheduleFire, ScheduleRow, ScheduleSpec
from klokka.tck.model.work import Work
from klokka.tck.violations import expect


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSchedule:
    """What the contract says of one schedule. `fence` is the least that the row may carry."""

    spec: ScheduleSpec
    next_fire_at: datetime | None
    last_fired_at: datetime | None = None
    lease_until: datetime | None = None
    fence: int = 0
    paused: str | None = None

    def due(self, now: datetime) -> bool:
        """[schedule.due] [operate.schedule]"""
        free = self.lease_until is None or self.lease_until <= now
        return self.paused is None and free and self.next_fire_at is not None and self.next_fire_at <= now

    def withdrawn(self) -> "ModelSchedule":
        """With no fire in flight, and none of before that could be completed."""
        return replace(self, lease_until=None, fence=self.fence + 1)

    def row(self, fence: Fence) -> ScheduleRow:
        return ScheduleRow(
            id=self.spec.id,
            kind=self.spec.kind,
            fingerprint=self.spec.fingerprint,
            description=self.spec.description,
            next_fire_at=self.next_fire_at,
            last_fired_at=self.last_fired_at,
            lease_until=self.lease_until,
            fence=fence,
            paused=self.paused,
        )


class Timetable:
    """Every schedule row. The runs of fires become jobs of `work`."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self.rows: dict[ScheduleId, ModelSchedule] = {}

    def upsert(self, specs: Sequence[ScheduleSpec]) -> None:
        for spec in specs:
            known = self.rows.get(spec.id)
            if known is None:
                self.rows[spec.id] = ModelSchedule(spec=spec, next_fire_at=spec.fire_at)
            elif known.spec.fingerprint != spec.fingerprint:
                self.rows[spec.id] = replace(known.withdrawn(), spec=spec, next_fire_at=spec.fire_at)

    def due(
        self,
        now: datetime,
        seen: Sequence[ScheduleFire],
        *,
        ids: Collection[ScheduleId],
        limit: int,
        lease: timedelta,
    ) -> None:
        due = {id_: row for id_, row in self.rows.items() if id_ in ids and row.due(now)}
        given = [fire.schedule_id for fire in seen]
        expect(set(given), "schedule.due", "schedule.crash").fulfils(
            lambda it: it <= set(due) and len(it) == len(given), f"some of {sorted(due)}, each once", "what is due"
        )
        times = sorted(row.next_fire_at for row in due.values() if row.next_fire_at is not None)[:limit]
        expect([fire.scheduled_for for fire in seen], "schedule.due").equals(times, "soonest first, at most `limit`")
        for fire in seen:
            row = due[fire.schedule_id]
            expect(fire.fence, "schedule.due").above(row.fence, "each under a higher fence")
            expect(fire, "schedule.due").equals(
                ScheduleFire(
                    schedule_id=row.spec.id,
                    fingerprint=row.spec.fingerprint,
                    scheduled_for=fire.scheduled_for,
                    now=now,
                    fence=fire.fence,
                ),
                "the row's fingerprint and time, and the store's now",
            )
            expect(fire.scheduled_for, "schedule.due").equals(row.next_fire_at, "the row's time")
            self.rows[row.spec.id] = replace(row, lease_until=now + lease, fence=fire.fence)

    def complete(
        self,
        now: datetime,
        seen: list[EnqueueResult] | None,
        *,
        schedule_id: ScheduleId,
        fence: Fence,
        runs: Sequence[NewJob],
        next_fire_at: datetime | None,
    ) -> None:
        row = self.rows.get(schedule_id)
        if row is None or row.lease_until is None or row.fence != fence:
            expect(seen, "schedule.fence").equals(None, "no fire is in flight under this fence")
            return
        expect(seen, "schedule.complete").differs(None, "the holder of the current fence completes the fire")
        self._work.enqueue(now, runs, seen or [])
        self.rows[schedule_id] = replace(row.withdrawn(), next_fire_at=next_fire_at, last_fired_at=now)

    def pause(self, seen: bool, id: ScheduleId, reason: str) -> None:
        row = self.rows.get(id)
        expect(seen, "operate.schedule").equals(row is not None, "says whether the schedule is known")
        if row is not None:
            self.rows[id] = replace(row.withdrawn(), paused=reason)

    def resume(self, seen: bool, id: ScheduleId, next_fire_at: datetime | None) -> None:
        row = self.rows.get(id)
        paused = row is not None and row.paused is not None
        expect(seen, "operate.schedule").equals(paused, "says whether the schedule was paused")
        if row is not None and paused:
            self.rows[id] = replace(row.withdrawn(), paused=None, next_fire_at=next_fire_at)

    def listed(self, seen: Sequence[ScheduleRow]) -> None:
        """What a list of schedules shows; fences may be higher than they need to be."""
        expected = [self.rows[id_].row(row.fence) for id_, row in zip(sorted(self.rows), seen, strict=False)]
        expect([row.id for row in seen], "query.schedules").equals(sorted(self.rows), "every schedule row, by id")
        expect(list(seen), "query.schedules", "schedule.upsert-same", "schedule.upsert-changed").equals(
            expected, "each as it was defined and as its fires have left it"
        )
        for row in seen:
            known = self.rows[row.id]
            expect(row.fence, "schedule.upsert-changed").above(known.fence - 1, "a fence only grows")
            self.rows[row.id] = replace(known, fence=row.fence)
