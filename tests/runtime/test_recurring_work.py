"""A worker with schedules: ticks wait for no handler, no slot and no loop, and a stop leaves no fire behind."""

import asyncio
import threading
import time
from datetime import timedelta
from typing import Any

from klokka.core.events import Fired
from klokka.core.ids import ScheduleId
from klokka.core.records import EnqueueResult, JobQuery
from klokka.core.schedule_records import ScheduleRow
from klokka.errors import StoreUnavailable
from klokka.runtime.bus import EventBus
from klokka.runtime.context import JobContext
from klokka.runtime.handlers import Executor, Handler
from klokka.runtime.worker import Worker
from klokka.schedules.interval import every
from tests.support.flaky import FlakyStore
from tests.support.ticking import recurrence
from tests.support.working import LONG, enqueue, handler, settings, until

SOON = timedelta(milliseconds=50)


def worker(store: Any, *handlers: Handler, bus: EventBus | None = None, **changes: Any) -> Worker:
    """A worker with one schedule that fires twenty times a second."""
    return Worker(
        store,
        {each.kind: each for each in handlers},
        settings(**changes),
        events=bus or EventBus(),
        schedules=[recurrence(schedule=every(SOON))],
    )


async def count(store: FlakyStore) -> int:
    return len(await store.list_jobs(JobQuery(kind="work", limit=100_000)))


async def schedule(store: FlakyStore) -> ScheduleRow:
    (row,) = await store.list_schedules()
    return row


async def test_a_worker_runs_what_recurs_and_tells_the_fleet_of_its_schedules(store: FlakyStore) -> None:
    ran: list[Any] = []

    async def run(payload: Any, job: JobContext) -> None:
        ran.append((job.schedule_id, job.scheduled_for))

    async with worker(store, handler(run, kind="work")):
        await until(lambda: len(ran) >= 3, "three runs")
        (row,) = await store.workers()

    assert row.beat.schedules == ("a",)
    assert len(set(ran)) == len(ran)
    assert {of for of, _ in ran} == {"a"}


async def test_handlers_that_fill_every_thread_and_slot_hold_up_no_tick(store: FlakyStore) -> None:
    release = threading.Event()

    def run(payload: Any, job: JobContext) -> None:
        release.wait(20)

    await enqueue(store, *range(4))
    async with worker(store, handler(run, executor=Executor.THREAD), concurrency=2):

        async def ticked() -> bool:
            return await count(store) >= 5

        await until(ticked, "five ticks")
        release.set()


async def test_a_handler_that_blocks_the_loop_holds_up_no_tick(store: FlakyStore) -> None:
    fired: list[float] = []
    blocked: list[tuple[float, float]] = []
    bus = EventBus()
    bus.on(Fired, lambda event: fired.append(time.monotonic()))

    async def run(payload: Any, job: JobContext) -> None:
        began = time.monotonic()
        time.sleep(0.5)  # noqa: ASYNC251  it is what the test is about
        blocked.append((began, time.monotonic()))

    async with worker(store, handler(run), bus=bus):
        await until(lambda: bool(fired), "the first tick")
        await enqueue(store, 1)
        await until(lambda: bool(blocked), "the block")
        await bus.flush(5)

    began, ended = blocked[0]
    assert sum(began < at < ended for at in fired) >= 3


async def test_a_stop_lets_a_fire_under_way_be_stored() -> None:
    async def run(payload: Any, job: JobContext) -> None: ...

    entered, release = threading.Event(), threading.Event()

    class Slow(FlakyStore):
        async def complete_fire(self, schedule_id: ScheduleId, **arguments: Any) -> list[EnqueueResult] | None:
            entered.set()
            await asyncio.to_thread(release.wait, LONG)
            return await super().complete_fire(schedule_id, **arguments)

    store = Slow()
    await store.open()
    async with asyncio.timeout(LONG), worker(store, handler(run, kind="work")) as working:
        await asyncio.to_thread(entered.wait, LONG)
        working.stop_soon()
        release.set()

    assert (await schedule(store)).lease_until is None
    assert await count(store) >= 1


async def test_an_outage_of_the_store_stops_no_schedule_for_good(store: FlakyStore) -> None:
    async def run(payload: Any, job: JobContext) -> None: ...

    store.weather.fail("upsert_schedules", StoreUnavailable("not yet"))
    async with worker(store, handler(run, kind="work")):

        async def ticked() -> bool:
            return await count(store) >= 2

        await until(ticked, "ticks before the outage")
        store.weather.take_away()
        await asyncio.sleep(0.2)
        store.weather.give_back()
        before = await count(store)

        async def ticked_again() -> bool:
            return await count(store) > before + 1

        await until(ticked_again, "ticks after the outage")


async def test_a_worker_without_schedules_has_no_thread_for_them(store: FlakyStore) -> None:
    async def run(payload: Any, job: JobContext) -> None: ...

    plain = Worker(store, {"a": handler(run)}, settings(), events=EventBus())
    async with plain:
        assert not any(thread.name == "klokka-ticker" for thread in threading.enumerate())
