"""Cron over a queue that is not ours: hand-over, collapse, first tick, replacement, and what goes wrong."""

import asyncio
import logging
from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from klokka.core.clocks import ManualClock
from klokka.errors import InvalidInput, InvalidSchedule, MisuseError, UnknownOutcome
from klokka.recurring import LeasedTicker, StoreQueue
from klokka.schedules.calendars import daily
from klokka.stores.memory.store import MemoryStore
from tests.recurring.queues import ForeignQueue
from tests.support.working import LONG, until

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)


class World:
    """A store for state and keys, a foreign queue, and one clock for all."""

    def __init__(self, store: MemoryStore, clock: ManualClock) -> None:
        self.store = store
        self.clock = clock
        self.queue = ForeignQueue()

    def ticker(self, **options: Any) -> LeasedTicker:
        return LeasedTicker(self.queue, self.store, self.store, clock=self.clock, **options)

    def hourly(self, **options: Any) -> LeasedTicker:
        ticker = self.ticker(**options)
        ticker.schedule_recurring("report", "0 * * * *")
        return ticker

    @property
    def ticks(self) -> list[datetime | None]:
        return [job.scheduled_for for job in self.queue.taken]


@pytest.fixture
async def world() -> AsyncGenerator[World]:
    clock = ManualClock(NOON)
    store = MemoryStore(clock=clock)
    await store.open()
    yield World(store, clock)
    await store.close()


async def test_each_tick_is_enqueued_when_its_time_has_come(world: World) -> None:
    ticker = world.hourly()

    assert await ticker.tick() == []
    world.clock.advance(hours=1)
    assert await ticker.tick() == ["report"]
    assert await ticker.tick() == []

    assert world.ticks == [NOON + timedelta(hours=1)]


async def test_only_the_holder_of_the_lease_enqueues(world: World) -> None:
    first, second = world.hourly(), world.hourly()
    await first.tick()

    world.clock.advance(seconds=10)
    assert await second.tick(NOON + timedelta(hours=1)) == []
    assert await first.tick(NOON + timedelta(hours=1)) == ["report"]


async def test_two_tickers_that_overlap_after_a_hand_over_enqueue_a_tick_once(world: World) -> None:
    old, new = world.hourly(), world.hourly()
    await old.tick()
    release = asyncio.Event()

    async def held(job: Any) -> str:
        await release.wait()
        return await ForeignQueue.enqueue(world.queue, job)

    world.queue.enqueue = held  # type: ignore[method-assign]
    world.clock.advance(hours=1)
    stuck = asyncio.create_task(old.tick())
    await asyncio.sleep(0)
    world.clock.advance(minutes=1)  # its lease ends while it enqueues
    assert await new.tick() == []
    release.set()
    await stuck
    assert await new.tick() == []

    assert world.ticks == [NOON + timedelta(hours=1)]


async def test_the_next_ticker_goes_on_at_once_after_a_stop(world: World) -> None:
    first, second = world.hourly(), world.hourly()
    await first.tick()
    assert await second.tick() == []

    await first.stop()
    world.clock.advance(hours=1)

    assert await second.tick() == ["report"]


async def test_a_tick_between_the_end_of_one_leader_and_the_start_of_the_next_is_enqueued(world: World) -> None:
    await world.hourly().tick()

    world.clock.advance(hours=1, seconds=0.7)
    assert await world.hourly().tick() == ["report"]


async def test_ticks_that_nobody_was_there_for_collapse_into_the_latest(world: World) -> None:
    ticker = world.hourly()
    await ticker.tick()

    world.clock.advance(days=14, minutes=30)
    assert await ticker.tick() == ["report"]
    assert await ticker.tick() == []

    assert world.ticks == [NOON + timedelta(days=14)]


async def test_the_first_tick_is_the_first_after_registration_also_if_the_first_pass_is_late(world: World) -> None:
    ticker = world.hourly()
    world.clock.advance(hours=1)

    assert await ticker.tick() == ["report"]
    assert world.ticks == [NOON + timedelta(hours=1)]


async def test_a_replacement_starts_at_its_registration_and_the_same_again_changes_nothing(world: World) -> None:
    ticker = world.hourly()
    await ticker.tick()
    world.clock.advance(hours=1, minutes=45)

    ticker.schedule_recurring("report", "0 * * * *")
    assert await ticker.tick() == ["report"]
    ticker.schedule_recurring("report", "30 * * * *")
    assert await ticker.tick() == []
    world.clock.advance(minutes=45)
    assert await ticker.tick() == ["report"]

    assert world.ticks == [NOON + timedelta(hours=1), NOON + timedelta(hours=2, minutes=30)]


async def test_a_definition_that_was_changed_back_does_not_fire_the_past(world: World) -> None:
    ticker = world.hourly()
    await ticker.tick()
    world.clock.advance(minutes=10)
    ticker.schedule_recurring("report", "20 * * * *")
    await ticker.tick()
    world.clock.advance(hours=3, minutes=15)
    await ticker.tick()

    ticker.schedule_recurring("report", "0 * * * *")
    assert await ticker.tick() == []
    world.clock.advance(hours=1)
    assert await ticker.tick() == ["report"]


@pytest.mark.parametrize("deployed", [False, True], ids=["in one process", "by deploys"])
async def test_changed_back_it_starts_at_its_registration_though_the_other_never_fired(
    world: World, deployed: bool
) -> None:
    ticker = world.ticker()
    for expression, days in (("0 9 * * *", 2), ("0 0 1 1 *", 10), ("0 9 * * *", 0)):
        if deployed:
            await ticker.stop()
            ticker = world.ticker()
        ticker.schedule_recurring("report", expression)
        await ticker.tick()
        world.clock.advance(days=days)
        await ticker.tick()

    assert world.ticks == [NOON.replace(day=4, hour=9)]
    world.clock.advance(days=1)
    assert await ticker.tick() == ["report"]


async def test_replicas_of_two_versions_that_take_turns_lose_no_tick_and_repeat_none(world: World) -> None:
    old, new = world.hourly(), world.ticker()
    new.schedule_recurring("report", "0,30 * * * *")
    for turn in range(4):
        holder = (old, new)[turn % 2]
        await holder.tick()
        world.clock.advance(hours=1)
        await holder.tick()
        await holder.stop()

    assert world.ticks == [NOON + timedelta(hours=hour) for hour in (1, 2, 3, 4)]


async def test_one_job_type_whose_enqueue_fails_stops_no_other_and_is_tried_again(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    ticker = world.hourly()
    ticker.schedule_recurring("cleanup", "0 * * * *")
    await ticker.tick()
    world.queue.failures = [ValueError("full"), ValueError("full")]
    world.clock.advance(hours=1)

    assert await ticker.tick() == []
    assert await ticker.tick() == ["report", "cleanup"]
    assert len([record for record in caplog.records if record.levelno >= logging.ERROR]) == 2


async def test_a_tick_of_which_nobody_knows_whether_it_was_enqueued_is_not_enqueued_again(world: World) -> None:
    ticker = world.hourly()
    await ticker.tick()
    world.queue.failures = [UnknownOutcome("the connection broke")]
    world.clock.advance(hours=1)

    assert await ticker.tick() == []
    assert await ticker.tick() == []
    world.clock.advance(hours=1)
    assert await ticker.tick() == ["report"]


async def test_a_tick_of_unknown_outcome_is_not_lost_where_key_and_job_are_written_together(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    ticker = LeasedTicker(StoreQueue(world.store), world.store, world.store, clock=world.clock)
    ticker.schedule_recurring("report", "0 * * * *")
    await ticker.tick()
    world.clock.advance(hours=1)

    async def break_off(*arguments: Any, **more: Any) -> None:
        raise UnknownOutcome("the connection broke before the commit")

    with monkeypatch.context() as broken:
        broken.setattr(world.store, "enqueue_once", break_off)
        assert await ticker.tick() == []

    assert await ticker.tick() == ["report"]
    assert await ticker.tick() == []


async def test_a_clock_that_steps_back_repeats_no_tick(world: World) -> None:
    ticker = world.hourly()
    await ticker.tick()
    for hours in (1, -1, 1, 1):
        world.clock.advance(hours=hours)
        await ticker.tick()

    assert world.ticks == [NOON + timedelta(hours=1), NOON + timedelta(hours=2)]


async def test_a_job_type_without_a_handler_here_is_warned_of_once_by_the_holder(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    ticker, other = world.hourly(registry={"cleanup"}), world.hourly(registry={"cleanup"})

    for _ in range(3):
        await ticker.tick()
        await other.tick()

    assert [record.getMessage() for record in caplog.records] == [
        "report recurs and has no handler here. That is right if another process handles it."
    ]


async def test_the_holder_calls_the_watch_and_a_watch_that_fails_stops_nothing(world: World) -> None:
    calls: list[datetime] = []

    async def watch(now: datetime) -> None:
        calls.append(now)
        raise RuntimeError("no pager")

    ticker = world.hourly(watch=watch, watch_ms=3000)
    other = world.hourly(watch=watch, watch_ms=3000)
    for seconds in (0, 1, 3, 5, -60, 6):
        await ticker.tick(NOON + seconds * SECOND)
        await other.tick(NOON + seconds * SECOND)

    assert calls == [NOON + seconds * SECOND for seconds in (0, 3, -60, 6)]


async def test_the_zone_falls_back_to_the_tickers_own(world: World) -> None:
    ticker = world.ticker(zone="America/New_York")
    ticker.schedule_recurring("local", "0 8 * * *")
    ticker.schedule_recurring("utc", "0 14 * * *", zone="UTC")
    ticker.schedule_recurring("built", daily(at="15:00"))
    await ticker.tick()

    fired = []
    for _ in range(4):
        world.clock.advance(hours=1)
        fired.append(await ticker.tick())

    assert fired == [["local"], ["utc"], ["built"], []]


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        (("report", "61 * * * *"), {}, InvalidSchedule, "minute"),
        (("report", "0 0 30 2 *"), {}, InvalidSchedule, "never fires"),
        (("report", "0 * * * *"), {"zone": "Mars/Base"}, InvalidSchedule, "Mars/Base"),
        (("report", "0 * * * *"), {"zone": 5}, InvalidSchedule, "zone cannot be 5"),
        (("report", None), {}, InvalidInput, "the schedule of report cannot be None. Give a cron text"),
        ((None, "0 * * * *"), {}, InvalidInput, "kind cannot be None"),
        (("report", "0 * * * *"), {"priority": 3}, InvalidInput, "no priority"),
        (("report", daily(at="09:00")), {"zone": "UTC"}, InvalidInput, "Leave zone out"),
        (("Report", "0 * * * *"), {}, InvalidInput, "report"),
    ],
)
async def test_what_cannot_be_done_is_refused_at_once(
    world: World, arguments: Any, options: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        world.ticker().schedule_recurring(*arguments, **options)


async def test_a_lease_that_no_tick_could_renew_in_time_is_refused(world: World) -> None:
    with pytest.raises(InvalidInput, match="lease_ms 1500"):
        world.ticker(tick_ms=1000, lease_ms=1500)
    for wrong in ({"tick_ms": 0}, {"watch_ms": "60"}, {"lease_ms": None}):
        with pytest.raises(InvalidInput, match=next(iter(wrong))):
            world.ticker(**wrong)


async def test_started_it_ticks_by_itself_until_stopped() -> None:
    store = MemoryStore()
    await store.open()
    queue = ForeignQueue()
    ticker = LeasedTicker(queue, store, store, tick_ms=10)
    ticker.schedule_recurring("report", daily(at=["00:00", "12:00"]))
    passes = 0

    async def count(now: datetime) -> None:
        nonlocal passes
        passes += 1

    watched = LeasedTicker(queue, store, store, tick_ms=10, watch=count, watch_ms=1)
    async with asyncio.timeout(LONG), watched:
        await until(lambda: passes >= 3, "three passes")
        with pytest.raises(MisuseError, match="runs already"):
            await watched.start()
    stopped = passes

    assert await ticker.tick() == []
    assert await store.acquire_lease("recurring", "somebody", timedelta(seconds=1)) is None  # handed over to `ticker`
    assert passes == stopped


async def test_an_outage_of_the_state_is_outlived(world: World, caplog: pytest.LogCaptureFixture) -> None:
    ticker = world.hourly(tick_ms=5, lease_ms=10_000)
    await world.store.close()
    async with asyncio.timeout(LONG), ticker:
        await until(lambda: "goes on trying" in caplog.text, "the outage to be said")
        await world.store.open()
        world.clock.advance(hours=1)
        await until(lambda: len(world.queue.taken) == 1, "the tick")
