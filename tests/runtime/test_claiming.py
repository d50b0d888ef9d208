"""How a worker finds work, and what it leaves to others."""

import asyncio
from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from klokka.core.clocks import ManualClock
from klokka.core.ids import WorkerId
from klokka.core.policies import Exponential
from klokka.core.queues import Queue
from klokka.core.records import JobQuery, NewJob
from klokka.core.states import JobStatus
from klokka.errors import StoreUnavailable
from klokka.runtime.context import JobContext
from klokka.spi.wakeups import LONGEST_SLEEP
from tests.support.flaky import FlakyStore, opened
from tests.support.working import enqueue, handler, queues, status, until, working

DEAD = WorkerId("dead")
SECOND = timedelta(seconds=1)


class Barrier:
    """A handler that says when each job began and lets all end together."""

    def __init__(self) -> None:
        self.begun: list[Any] = []
        self.end = asyncio.Event()

    async def __call__(self, payload: Any, job: JobContext) -> None:
        self.begun.append(payload)
        await self.end.wait()


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
async def still(clock: ManualClock) -> AsyncGenerator[FlakyStore]:
    """A store whose time stands still."""
    store = await opened(clock=clock)
    yield store
    await store.close()


async def quick(payload: Any, job: JobContext) -> None: ...


async def lapse(store: FlakyStore, clock: ManualClock, count: int, *, times: int = 1) -> None:
    """A worker claims `count` jobs and dies, so many times."""
    for _ in range(times):
        await store.claim(queues=["default"], kinds=["a"], limit=count, lease=SECOND, worker=DEAD)
        clock.advance(SECOND)


async def test_runs_no_more_at_once_than_there_are_slots(store: FlakyStore) -> None:
    barrier = Barrier()
    await enqueue(store, *range(10))

    async with working(store, handler(barrier), concurrency=3):
        await until(lambda: len(barrier.begun) == 3, "three to begin")
        counts = await store.counts_by_status()
        barrier.end.set()
        await until(lambda: len(barrier.begun) == 10, "all to begin")

    assert (counts[JobStatus.RUNNING], counts[JobStatus.ENQUEUED]) == (3, 7)


async def test_kinds_without_a_handler_are_left_to_others(store: FlakyStore) -> None:
    await enqueue(store, *range(50), kind="unknown")
    [known] = await enqueue(store, 1)

    async with working(store, handler(quick)):
        await status(store, known, JobStatus.SUCCEEDED)

    assert (await store.counts_by_status())[JobStatus.ENQUEUED] == 50


async def test_earlier_queues_come_first(store: FlakyStore) -> None:
    barrier = Barrier()
    await enqueue(store, "low-1", "low-2", queue="low")
    await enqueue(store, "high-1", "high-2", queue="high")

    async with working(store, handler(barrier), queues=queues("high", "low"), concurrency=3):
        await until(lambda: len(barrier.begun) == 3, "three to begin")
        begun = list(barrier.begun)
        barrier.end.set()

    assert begun == ["high-1", "high-2", "low-1"]


async def test_a_capped_queue_leaves_the_other_slots_to_the_rest(store: FlakyStore) -> None:
    barrier = Barrier()
    await enqueue(store, "c1", "c2", "c3", queue="cpu")
    await enqueue(store, "d1", "d2", queue="default")

    async with working(store, handler(barrier), queues=queues(Queue("cpu", concurrency=1), "default"), concurrency=4):
        await until(lambda: len(barrier.begun) == 3, "three to begin")
        begun = sorted(barrier.begun)
        barrier.end.set()
        await until(lambda: len(barrier.begun) == 5, "the rest to run, without waiting for a poll")

    assert begun == ["c1", "d1", "d2"]


async def test_a_freed_slot_of_a_full_queue_is_used_at_once(store: FlakyStore) -> None:
    first = asyncio.Event()
    begun: list[Any] = []

    async def run(payload: Any, job: JobContext) -> None:
        begun.append(payload)
        if payload == 0:
            await first.wait()

    await enqueue(store, 0, 1, 2, queue="cpu")
    async with working(
        store,
        handler(run),
        queues=queues(Queue("cpu", concurrency=1)),
        poll=LONGEST_SLEEP,
    ):
        await until(lambda: begun == [0], "the first")
        first.set()
        await until(lambda: begun == [0, 1, 2], "the others")


async def test_sleeps_exactly_until_the_next_is_due(store: FlakyStore) -> None:
    ran = asyncio.Event()

    async def run(payload: Any, job: JobContext) -> None:
        ran.set()

    await enqueue(store, 1, run_at=timedelta(seconds=0.3))
    async with working(store, handler(run), poll=LONGEST_SLEEP):
        await asyncio.wait_for(ran.wait(), 10)
        looks = store.weather.calls["claim"]

    assert looks <= 5


async def test_an_idle_worker_asks_seldom(store: FlakyStore) -> None:
    async with working(store, handler(quick), poll=timedelta(seconds=0.2), sweep_every=timedelta(hours=1)):
        await until(lambda: store.weather.calls["next_due"] >= 4, "two polls")
        calls = dict(store.weather.calls)

    assert calls["claim"] <= 2, "one at the start, and one for the hint that a subscription begins with"
    assert "now" not in calls
    assert "heartbeat" not in calls


async def test_short_jobs_are_claimed_ahead_and_what_does_not_start_in_time_goes_back(store: FlakyStore) -> None:
    release = asyncio.Event()
    stuck = 0

    async def run(payload: Any, job: JobContext) -> None:
        nonlocal stuck
        if payload == "long":
            stuck += 1
            await release.wait()

    await enqueue(store, *["short"] * 300, *["long"] * 4, *["short"] * 40)
    async with working(store, handler(run)):
        await until(lambda: stuck == 4, "all slots to be taken for long")
        assert store.weather.calls["claim"] < 60

        async def given_back() -> bool:
            counts = await store.counts_by_status()
            return counts[JobStatus.RUNNING] == 4 and counts[JobStatus.ENQUEUED] + counts[JobStatus.SCHEDULED] == 40

        await until(given_back, "what was claimed ahead to be given back")
        [first] = (await store.claim(queues=["default"], kinds=["a"], limit=1, lease=SECOND, worker=DEAD))[:1]
        release.set()

    assert first.attempt == 1


async def test_a_lapsed_job_starts_with_no_other_unstarted_claim_in_hand(still: FlakyStore, clock: ManualClock) -> None:
    unstarted: list[set[int]] = []
    begun: set[int] = set()

    async def run(payload: Any, job: JobContext) -> None:
        begun.add(job.id)
        if job.lapses:
            claimed = await still.list_jobs(JobQuery(status=JobStatus.RUNNING))
            unstarted.append({summary.id for summary in claimed} - begun)

    ids = await enqueue(still, *range(20))
    await lapse(still, clock, 3)
    async with working(still, handler(run, retry=Exponential()), concurrency=10):
        for each in ids:
            await status(still, each, JobStatus.SUCCEEDED)
        attempts = [details.summary.attempt for each in ids if (details := await still.get_job(each))]

    assert unstarted == [set(), set(), set()]
    assert sorted(attempts) == [1] * 17 + [2] * 3


async def test_many_lapsed_jobs_before_a_backlog_keep_their_place(still: FlakyStore, clock: ManualClock) -> None:
    order: list[int] = []

    async def run(payload: Any, job: JobContext) -> None:
        order.append(job.id)

    ids = await enqueue(still, *range(300))
    await lapse(still, clock, 100)
    async with working(still, handler(run, retry=Exponential()), concurrency=10):
        await until(lambda: len(order) == 300, "all to run")

    assert sorted(order[:100]) == ids[:100]
    assert still.weather.calls["claim"] < 150


async def test_a_job_that_keeps_killing_its_worker_is_not_started_again(still: FlakyStore, clock: ManualClock) -> None:
    async def run(payload: Any, job: JobContext) -> None:
        assert payload != "killer"

    [killer] = await enqueue(still, "killer", unique_key="k")
    await lapse(still, clock, 1, times=3)
    [other] = await enqueue(still, "other")
    async with working(still, handler(run, retry=Exponential(), max_lapses=2)):
        details = await status(still, killer, JobStatus.DEAD_LETTERED)
        await status(still, other, JobStatus.SUCCEEDED)
        [again] = await still.enqueue([NewJob(kind="unknown", payload="1", unique_key="k")])

    assert details.last_error is not None
    assert "lost with its worker 3 times" in details.last_error.message
    assert again.created


async def test_a_worker_lost_on_the_last_attempt_leaves_a_dead_letter(still: FlakyStore, clock: ManualClock) -> None:
    async def run(payload: Any, job: JobContext) -> None:
        raise AssertionError("it had one attempt")

    [only] = await enqueue(still, 1, unique_key="only")
    await lapse(still, clock, 1)
    async with working(still, handler(run)):
        details = await status(still, only, JobStatus.DEAD_LETTERED)

    assert details.last_error is not None
    assert "attempt 1 was its last" in details.last_error.message
    assert await enqueue(still, 1, unique_key="only") != [only]


async def test_an_outage_of_claiming_ends_no_worker(store: FlakyStore) -> None:
    store.weather.take_away("claim", "next_due")
    [job_id] = await enqueue(store, 1)

    async with working(store, handler(quick)):
        await until(lambda: store.weather.calls["claim"] >= 3, "some tries")
        store.weather.give_back()
        await status(store, job_id, JobStatus.SUCCEEDED)


async def test_a_claimer_that_breaks_starts_again(store: FlakyStore, caplog: Any) -> None:
    store.weather.fail("claim", ZeroDivisionError("a bug"))
    [job_id] = await enqueue(store, 1)

    async with working(store, handler(quick)):
        await status(store, job_id, JobStatus.SUCCEEDED)

    assert any("the claimer failed unexpectedly" in record.getMessage() for record in caplog.records)


async def test_a_due_time_in_the_past_that_gives_nothing_makes_no_busy_loop(store: FlakyStore) -> None:
    async def past(**arguments: Any) -> datetime:
        return datetime(2020, 1, 1, tzinfo=UTC)

    store.next_due = past  # type: ignore[method-assign,assignment]
    async with working(store, handler(quick)):
        await asyncio.sleep(0.3)

    assert store.weather.calls["claim"] < 12


async def test_a_hundred_jobs_at_once_fill_all_idle_slots(store: FlakyStore) -> None:
    barrier = Barrier()
    async with working(store, handler(barrier), concurrency=10):
        await until(lambda: store.weather.calls["next_due"] > 0, "the worker to be idle")
        await enqueue(store, *range(100))
        await until(lambda: len(barrier.begun) == 10, "ten to begin")
        barrier.end.set()


async def test_the_store_may_be_away_at_the_start(store: FlakyStore) -> None:
    store.weather.fail("open", StoreUnavailable("not yet"), StoreUnavailable("not yet"))
    [job_id] = await enqueue(store, 1)

    async with working(store, handler(quick)):
        await status(store, job_id, JobStatus.SUCCEEDED)
