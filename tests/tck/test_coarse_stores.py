"""A right store may keep coarser instants than ours do, and the kit has nothing to say to that."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from klokka.core.ids import JobId, ScheduleId
from klokka.core.instants import EPOCH, aware
from klokka.core.records import Change, EnqueueResult, NewJob
from klokka.core.schedule_records import ScheduleSpec
from klokka.core.states import State, time_of
from klokka.spi.life import Traits
from klokka.stores.memory.store import MemoryStore
from klokka.tck.checks import every_check
from klokka.tck.report import Failed
from klokka.tck.run import run
from klokka.tck.subject import Subject
from tests.support.subjects import memory_factory

SECOND = timedelta(seconds=1)


def cut(at: Any) -> Any:
    """An instant or a wait in whole seconds, toward the past; what is refused stays as it is."""
    if isinstance(at, datetime) and at.tzinfo is not None:
        return aware(at) - (aware(at) - EPOCH) % SECOND
    return at - at % SECOND if isinstance(at, timedelta) else at


def cut_state(state: State) -> State:
    return state if time_of(state) is None else type(state)(cut(time_of(state)))  # type: ignore[call-arg]


class InSeconds(MemoryStore):
    """The memory store, as one with instants of whole seconds would be."""

    @property
    def traits(self) -> Traits:
        return replace(super().traits, resolution=SECOND)

    async def enqueue(self, jobs: Sequence[NewJob]) -> list[EnqueueResult]:
        return await super().enqueue([replace(job, run_at=cut(job.run_at)) for job in jobs])

    async def transition(self, id: JobId, *, from_: State, to: State, **more: Any) -> bool:
        return await super().transition(id, from_=cut_state(from_), to=cut_state(to), **more)

    async def transition_many(self, changes: Sequence[Change]) -> list[bool]:
        return await super().transition_many(
            [replace(change, from_=cut_state(change.from_), to=cut_state(change.to)) for change in changes]
        )

    async def upsert_schedules(self, specs: Sequence[ScheduleSpec]) -> None:
        await super().upsert_schedules([replace(spec, fire_at=cut(spec.fire_at)) for spec in specs])

    async def complete_fire(self, schedule_id: ScheduleId, **asked: Any) -> list[EnqueueResult] | None:
        return await super().complete_fire(schedule_id, **{**asked, "next_fire_at": cut(asked["next_fire_at"])})

    async def resume_schedule(self, id: ScheduleId, next_fire_at: datetime | None) -> bool:
        return await super().resume_schedule(id, cut(next_fire_at))

    async def advance_cursor(self, name: str, to: datetime, **under: Any) -> bool:
        return await super().advance_cursor(name, cut(to), **under)


@asynccontextmanager
async def in_seconds() -> AsyncGenerator[Subject]:
    async with memory_factory(InSeconds)() as subject:
        data = subject.store._data  # type: ignore[attr-defined]
        finer = data.clock
        data.clock = lambda: cut(finer())
        yield subject


@pytest.mark.parametrize("layer", ["example", "machine", "history"])
async def test_a_right_store_of_whole_seconds_passes(layer: str) -> None:
    report = await run(in_seconds, checks=[check for check in every_check() if check.layer == layer])

    assert [str(failed) for failed in report.failed] == []
    assert report.passed


async def test_one_that_keeps_finer_parts_than_it_says_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(InSeconds, "enqueue", MemoryStore.enqueue)

    report = await run(in_seconds, checks=[check for check in every_check() if "time.resolution" in check.clauses])

    assert any(isinstance(failed, Failed) for failed in report.failed)
