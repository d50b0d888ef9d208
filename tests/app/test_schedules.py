"""`app.recurring` and `app.schedules`: defining what recurs, and acting on it, from async and from sync code."""

import asyncio
from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import klokka
from klokka.core.clocks import ManualClock
from klokka.core.ids import ScheduleId
from klokka.core.records import JobQuery
from klokka.errors import InvalidInput, LimitExceeded, PayloadNotEncodable
from klokka.stores.memory.store import MemoryStore
from klokka.stores.sqlite.store import SqliteStore
from tests.support.working import until

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
NAME = ScheduleId("cleanup")
TYPE = klokka.JobType("digest", dict[str, str])


def _with_depth(depth: int) -> None: ...


with_depth: Any = _with_depth


class Cleaning:
    """An app on a clock that stands, with one minutely schedule in a store that knows it."""

    def __init__(self) -> None:
        self.clock = ManualClock(NOON)
        self.store = MemoryStore(clock=self.clock)
        self.app = klokka.Klokka(self.store)
        self.misfires: list[klokka.Misfired] = []

        @self.app.recurring("cleanup", klokka.every(MINUTE))
        async def cleanup() -> None: ...

        self.cleanup = cleanup
        self.app.on(klokka.Misfired)(self.misfires.append)

    async def register(self) -> None:
        store = await self.app.opened()
        await store.upsert_schedules([self.app.schedules[NAME].spec(NOON)])

    async def next_fire(self) -> datetime | None:
        (state,) = await self.app.schedules.states()
        return state.row.next_fire_at

    async def told(self, count: int) -> None:
        await until(lambda: len(self.misfires) >= count, "the misfires to be told")


@pytest.fixture
async def cleaning() -> AsyncGenerator[Cleaning]:
    made = Cleaning()
    await made.register()
    yield made
    await made.app.close()


def test_the_decorated_function_stays_itself_and_its_id_is_its_kind() -> None:
    app = klokka.Klokka("memory:")

    @app.recurring("nightly", klokka.daily(at="03:00"), queue="slow", misfire=klokka.Skip())
    def nightly(depth: int = 3) -> int:
        return depth

    assert nightly() == 3
    assert nightly.kind == "nightly"
    assert app.handlers["nightly"].kind == "nightly"
    recurrence = app.schedules[ScheduleId("nightly")]
    assert (recurrence.request, recurrence.misfire) == (nightly.new(), klokka.Skip())
    assert recurrence.request.queue == "slow"


def test_requests_of_functions_and_of_types_recur_alike() -> None:
    app = klokka.Klokka("memory:")

    @app.job("mail")
    def mail(to: str) -> None: ...

    app.recurring("a", klokka.every(MINUTE), mail.new("x").options(queue="email"))
    app.recurring("b", klokka.every(MINUTE), TYPE.new({"to": "x"}), overlap=False)

    assert [each.request.kind for each in app.schedules.values()] == ["mail", "digest"]


def test_definitions_that_cannot_work_are_refused_where_they_are_made() -> None:
    app = klokka.Klokka("memory:")
    every = klokka.every(MINUTE)
    app.recurring("taken", every, TYPE.new({}))

    with pytest.raises(InvalidInput, match="defined already"):
        app.recurring("taken", every, TYPE.new({}))
    with pytest.raises(InvalidInput, match="for example 'nightly'"):
        app.recurring("Nightly", every, TYPE.new({}))
    with pytest.raises(InvalidInput, match="unique_key out"):
        app.recurring("keyed", every, TYPE.new({}).options(unique_key="mine"))
    with pytest.raises(InvalidInput, match="misfires, queue of schedule 'misspelt' would be dropped"):
        app.recurring("misspelt", every, TYPE.new({}), misfires=klokka.Skip(), queue="slow")  # type: ignore[call-overload]
    with pytest.raises(LimitExceeded, match="payload"):
        app.recurring("large", every, TYPE.new({"x": "x" * 2_000_000}))
    with pytest.raises(PayloadNotEncodable, match=r"'needs' runs its function without arguments.* 'depth'\. Give its"):
        app.recurring("needs", every)(with_depth)
    assert list(app.schedules) == ["taken"]


async def test_triggered_it_runs_at_once_and_is_not_moved(cleaning: Cleaning) -> None:
    before = await cleaning.next_fire()

    result = await cleaning.app.schedules.trigger_now("cleanup")

    job = await cleaning.app.get(result.id)
    assert job is not None
    assert (job.summary.schedule_id, job.scheduled_for, job.unique_key) == ("cleanup", NOON, None)
    assert await cleaning.next_fire() == before == NOON + MINUTE


async def test_a_schedule_that_nobody_defines_is_refused_by_name(cleaning: Cleaning) -> None:
    with pytest.raises(InvalidInput, match="It defines: cleanup"):
        await cleaning.app.schedules.trigger_now("clean-up")
    with pytest.raises(InvalidInput, match="unknown to the store"):
        await cleaning.app.schedules.pause("clean-up", "why not")


async def test_a_resumed_schedule_skips_what_was_missed_and_says_how_much(cleaning: Cleaning) -> None:
    await cleaning.app.schedules.pause("cleanup", "migration")
    cleaning.clock.advance(minutes=10, seconds=30)

    assert await cleaning.app.schedules.resume("cleanup")

    assert await cleaning.next_fire() == NOON + 11 * MINUTE
    await cleaning.told(1)
    assert cleaning.misfires == [klokka.Misfired(schedule=NAME, kind="cleanup", missed=10, at_least=False)]
    assert not await cleaning.app.schedules.resume("cleanup")


async def test_a_resumed_schedule_may_catch_up_by_its_misfire_policy(cleaning: Cleaning) -> None:
    await cleaning.app.schedules.pause("cleanup", "migration")
    cleaning.clock.advance(minutes=10)

    assert await cleaning.app.schedules.resume("cleanup", catch_up=True)

    assert await cleaning.next_fire() == NOON + MINUTE


async def test_a_pause_in_which_nothing_was_missed_leaves_the_next_fire(cleaning: Cleaning) -> None:
    await cleaning.app.schedules.pause("cleanup", "a moment")
    await cleaning.app.schedules.resume("cleanup")

    assert await cleaning.next_fire() == NOON + MINUTE


async def test_a_schedule_is_orphaned_until_a_worker_has_it_and_again_when_it_has_gone(tmp_path: Path) -> None:
    app = klokka.Klokka(SqliteStore(tmp_path / "jobs.db"))

    @app.recurring("cleanup", klokka.every(timedelta(milliseconds=100)))
    def cleanup() -> None: ...

    async def orphaned(expected: bool) -> bool:
        states = await app.schedules.states()
        return [state.orphaned for state in states] == [expected]

    async def ran() -> bool:
        store: Any = await app.opened()
        return bool(await store.list_jobs(JobQuery(schedule_id=NAME)))

    async with app:
        async with app.worker():
            await until(lambda: orphaned(False), "the worker to be known")
            await until(ran, "a run")
        assert await orphaned(True)


async def test_a_paused_schedule_fires_nothing_while_a_worker_runs() -> None:
    app = klokka.Klokka(MemoryStore())
    ran: list[int] = []

    @app.recurring("cleanup", klokka.every(timedelta(milliseconds=20)))
    async def cleanup() -> None:
        ran.append(1)

    async with app.worker():
        await until(lambda: len(ran) >= 2, "two runs")
        await app.schedules.pause("cleanup", "enough")
        (state,) = await app.schedules.states()
        store: Any = await app.opened()
        jobs = len(await store.list_jobs(JobQuery(limit=1000)))
        await until(lambda: len(ran) == jobs, "the rest to run")

        assert state.row.paused == "enough"
        assert len(await store.list_jobs(JobQuery(limit=1000))) == jobs


def test_sync_code_has_the_same_verbs() -> None:
    made = Cleaning()
    app = made.app

    async def register() -> None:
        await made.register()
        await app.close()

    asyncio.run(register())

    assert app.schedules.trigger_now_sync("cleanup").created
    app.schedules.pause_sync("cleanup", "why not")
    assert [state.row.paused for state in app.schedules.states_sync()] == ["why not"]
    assert app.schedules.resume_sync("cleanup")
    app.close_sync()
