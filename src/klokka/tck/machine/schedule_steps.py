"""Steps with schedules: definitions, fires, completions and pauses."""

from datetime import timedelta
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule

from klokka.core.ids import ScheduleId
from klokka.core.records import EnqueueResult, NewJob
from klokka.core.schedule_records import ScheduleFire, ScheduleSpec
from klokka.spi.operate import OperableStore
from klokka.spi.query import QueryableStore
from klokka.tck.machine import choices
from klokka.tck.machine.play import Play, can
from klokka.tck.machine.stage import Hunt

next_fires = st.none() | choices.wait


class ScheduleSteps(Play):
    """`fires` are all that were ever given, the used-up ones too."""

    def __init__(self, hunt: Hunt) -> None:
        super().__init__(hunt)
        self.fires: list[ScheduleFire] = []

    @initialize(wait=choices.wait)
    def begin_with_schedules(self, wait: timedelta) -> None:
        self.upsert_schedules(0, [(id_, "v1", wait) for id_ in choices.SCHEDULES])

    @rule(lease=choices.lease)
    def fire_all(self, lease: timedelta) -> None:
        self.due_schedules(0, choices.WORKERS[0], ids=set(choices.SCHEDULES), limit=9, lease=lease)

    @rule(lease=choices.lease)
    @precondition(lambda self: self.fires)
    def take_over(self, lease: timedelta) -> None:
        """The holders of all fires die, and somebody else goes on."""
        self.stage.pass_time(choices.WAITS[-1])
        self.fire_all(lease)

    @rule(
        on=choices.handle,
        specs=st.lists(st.tuples(choices.schedule, st.sampled_from(["v1", "v2"]), next_fires), min_size=1, max_size=3),
    )
    def upsert_schedules(self, on: int, specs: list[tuple[ScheduleId, str, timedelta | None]]) -> None:
        made = [
            ScheduleSpec(
                id=id_,
                kind=choices.KINDS[0],
                fingerprint=fingerprint,
                description=f"{id_} {fingerprint}",
                fire_at=None if wait is None else self.stage.now + wait,
            )
            for id_, fingerprint, wait in specs
        ]
        self.stage.answer(on, "upsert_schedules", specs=made)
        self.stage.timetable.upsert(made)

    @rule(
        on=choices.handle,
        ids=st.sampled_from([set(choices.SCHEDULES), {choices.SCHEDULES[0]}, set[ScheduleId]()]),
        limit=st.sampled_from([2, 1, 0]),
        lease=choices.lease,
        worker=choices.worker,
    )
    def due_schedules(self, on: int, worker: str, **asked: Any) -> None:
        seen = self.stage.answer(on, "due_schedules", **asked, worker=worker)
        self.stage.timetable.due(self.stage.now, seen, **asked)
        self.fires += seen

    @rule(on=choices.handle, which=choices.number, runs=choices.jobs(2, least=0), wait=next_fires)
    @precondition(lambda self: self.fires)
    def complete_fire(self, on: int, which: int, runs: list[NewJob], wait: timedelta | None) -> None:
        fire = self.fires[-1 - which % len(self.fires)]
        asked: dict[str, Any] = {
            "schedule_id": fire.schedule_id,
            "fence": fire.fence,
            "runs": runs,
            "next_fire_at": None if wait is None else self.stage.now + wait,
        }
        self.stage.forget_hints()
        seen: list[EnqueueResult] | None = self.stage.answer(on, "complete_fire", **asked)
        self.stage.timetable.complete(self.stage.now, seen, **asked)
        if any(result.created for result in seen or []):
            self.stage.expect_hint("wakeups.commit", "the runs of a fire are work")

    @can(OperableStore)
    @rule(on=choices.handle, id_=choices.schedule)
    def pause_schedule(self, on: int, id_: ScheduleId) -> None:
        seen = self.stage.answer(on, "pause_schedule", id=id_, reason="a reason")
        self.stage.timetable.pause(seen, id_, "a reason")

    @can(OperableStore)
    @rule(on=choices.handle, id_=choices.schedule, wait=next_fires)
    def resume_schedule(self, on: int, id_: ScheduleId, wait: timedelta | None) -> None:
        next_at = None if wait is None else self.stage.now + wait
        seen = self.stage.answer(on, "resume_schedule", id=id_, next_fire_at=next_at)
        self.stage.timetable.resume(seen, id_, next_at)

    @can(QueryableStore)
    @rule(on=choices.handle)
    def look_at_schedules(self, on: int) -> None:
        self.stage.timetable.listed(self.stage.answer(on, "list_schedules"))
