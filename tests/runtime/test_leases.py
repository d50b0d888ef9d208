"""Leases: kept while a job lives, noticed when they are lost, and nothing kept that cannot be proven."""

import asyncio
import threading
import time
from collections.abc import AsyncGenerator
from datetime import timedelta
from typing import Any

import pytest

from klokka.core import events
from klokka.core.clocks import ManualClock
from klokka.core.ids import WorkerId
from klokka.core.policies import Exponential
from klokka.core.records import ClaimedJob
from klokka.core.states import JobStatus
from klokka.runtime.bus import EventBus
from klokka.runtime.context import JobContext
from klokka.runtime.handlers import Executor
from klokka.runtime.heartbeater import Heartbeater
from klokka.runtime.held import Held, HeldJobs
from tests.support.flaky import FlakyStore, opened
from tests.support.working import enqueue, handler, status, until, working

OTHER = WorkerId("other")
SHORT = timedelta(seconds=0.45)
KEPT = timedelta(seconds=1.2)
"""A lease that must not be lost, also where the machine lets this process stand for half a second."""


class Waiting:
    """An async handler that runs until it is let go, and says how it ended."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self.go = asyncio.Event()
        self.cancelled = 0
        self.runs = 0

    async def __call__(self, payload: Any, job: JobContext) -> None:
        self.runs += 1
        self.begun.set()
        try:
            await self.go.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            assert job.cancelled
            raise


@pytest.fixture
async def still() -> AsyncGenerator[tuple[FlakyStore, ManualClock]]:
    clock = ManualClock()
    store = await opened(clock=clock)
    yield store, clock
    await store.close()


async def stolen(store: FlakyStore) -> list[ClaimedJob]:
    return await store.claim(queues=["default"], kinds=["a"], limit=10, lease=timedelta(hours=1), worker=OTHER)


async def test_a_long_job_with_a_short_lease_is_never_claimed_by_anyone_else(store: FlakyStore) -> None:
    run = Waiting()
    [job_id] = await enqueue(store, 1)

    async with working(store, handler(run), lease=KEPT):
        await run.begun.wait()
        taken = []
        while store.weather.calls["heartbeat"] < 8:  # a third of the lease, over two of them
            taken += await stolen(store)
            await asyncio.sleep(0.02)
        run.go.set()
        await status(store, job_id, JobStatus.SUCCEEDED)

    assert taken == []


async def test_leases_are_renewed_while_the_worker_drains(store: FlakyStore) -> None:
    run = Waiting()
    [job_id] = await enqueue(store, 1)

    async with working(store, handler(run), lease=KEPT) as worker:
        await run.begun.wait()
        worker.stop_soon()
        beats = store.weather.calls["heartbeat"]
        await until(lambda: store.weather.calls["heartbeat"] >= beats + 6, "renewals for longer than a lease")
        taken = await stolen(store)
        run.go.set()
        await worker.stopped()

    assert taken == []
    assert (await status(store, job_id, JobStatus.SUCCEEDED)).summary.attempt == 1


async def test_a_lost_lease_ends_the_handler_and_its_result_is_discarded(
    still: tuple[FlakyStore, ManualClock],
) -> None:
    store, _ = still
    bus = EventBus()
    lost: list[events.LeaseLost] = []
    bus.on(events.LeaseLost, lost.append)
    run = Waiting()
    [job_id] = await enqueue(store, 1)

    async with working(store, handler(run), bus=bus, lease=SHORT):
        await run.begun.wait()
        await store.cancel(job_id)
        await until(lambda: run.cancelled == 1, "the handler to be cancelled")
        await until(lambda: len(lost) == 1, "the event")

    assert (await status(store, job_id, JobStatus.CANCELLED)).last_error is None


async def test_a_worker_that_is_late_by_a_lease_discards_what_it_has_and_leaves_the_new_owner_alone(
    still: tuple[FlakyStore, ManualClock],
) -> None:
    store, clock = still
    run = Waiting()
    [job_id] = await enqueue(store, 1)

    async with working(store, handler(run), lease=timedelta(seconds=1)):
        await run.begun.wait()
        clock.advance(seconds=3)
        [theirs] = await stolen(store)
        await until(lambda: run.cancelled == 1, "the handler to be cancelled")

    details = await status(store, job_id, JobStatus.RUNNING)
    assert (details.holder, details.fence) == (OTHER, theirs.fence)


async def test_a_thread_of_a_lost_lease_is_told_and_keeps_its_slot_until_it_ends(store: FlakyStore) -> None:
    told, end, begun = threading.Event(), threading.Event(), threading.Event()

    def run(payload: Any, job: JobContext) -> None:
        begun.set()
        while not job.cancelled:
            time.sleep(0.005)
        told.set()
        end.wait(20)

    [job_id, next_id] = await enqueue(store, 1, 2)
    async with working(store, handler(run, executor=Executor.THREAD), lease=SHORT, concurrency=1):
        await until(begun.is_set, "the handler to begin")
        await store.cancel(job_id)
        await until(told.is_set, "the thread to be told")
        waiting = await store.get_job(next_id)
        end.set()
        await store.cancel(next_id)

    assert waiting is not None
    assert waiting.summary.status is JobStatus.ENQUEUED
    await status(store, job_id, JobStatus.CANCELLED)


async def test_an_own_job_claimed_anew_ends_its_older_execution_first(
    still: tuple[FlakyStore, ManualClock],
) -> None:
    store, clock = still
    at_once: list[int] = []
    running = 0
    begun = asyncio.Event()
    finish = asyncio.Event()

    async def run(payload: Any, job: JobContext) -> None:
        nonlocal running
        running += 1
        at_once.append(running)
        try:
            begun.set()
            if job.attempt == 1:
                await asyncio.Event().wait()
        finally:
            await finish.wait()  # slow to end
            running -= 1

    [job_id] = await enqueue(store, 1)
    async with working(store, handler(run, retry=Exponential()), lease=timedelta(seconds=20)) as worker:
        await begun.wait()
        clock.advance(seconds=30)
        worker.hint()
        await until(lambda: store.weather.calls["claim"] >= 3, "the job to be claimed anew")
        begun_once = list(at_once)
        finish.set()
        details = await status(store, job_id, JobStatus.SUCCEEDED)

    assert begun_once == [1]
    assert at_once == [1, 1]
    assert (details.summary.attempt, details.lapses) == (2, 1)


async def test_an_outage_of_renewals_shorter_than_the_lease_costs_nothing(store: FlakyStore) -> None:
    run = Waiting()
    [job_id] = await enqueue(store, 1)

    async with working(store, handler(run), lease=timedelta(seconds=1.5)):
        await run.begun.wait()
        store.weather.take_away("heartbeat")
        await until(lambda: store.weather.calls["heartbeat"] >= 2, "failing renewals")
        store.weather.give_back()
        beats = store.weather.calls["heartbeat"]
        await until(lambda: store.weather.calls["heartbeat"] >= beats + 2, "renewals")
        await asyncio.sleep(1.2)
        run.go.set()
        await status(store, job_id, JobStatus.SUCCEEDED)

    assert (run.runs, run.cancelled) == (1, 0)


async def test_a_lease_that_cannot_be_proven_is_lost(store: FlakyStore) -> None:
    run = Waiting()
    [job_id] = await enqueue(store, 1)

    async with working(store, handler(run, retry=Exponential()), lease=SHORT):
        await run.begun.wait()
        store.weather.take_away()
        await until(lambda: run.cancelled == 1, "the handler to be ended by our own clock")
        run.go.set()
        store.weather.give_back()
        details = await status(store, job_id, JobStatus.SUCCEEDED)

    assert details.lapses == 1


async def test_a_blocked_loop_costs_no_lease_and_is_noticed(store: FlakyStore, caplog: Any) -> None:
    bus = EventBus()
    blocked: list[events.LoopBlocked] = []
    bus.on(events.LoopBlocked, blocked.append)
    taken: list[ClaimedJob] = []

    async def run(payload: Any, job: JobContext) -> None:
        time.sleep(2 * KEPT.total_seconds())  # noqa: ASYNC251
        taken.extend(await stolen(store))

    [job_id] = await enqueue(store, 1)
    async with working(store, handler(run), bus=bus, lease=KEPT, blocked_after=SHORT):
        await status(store, job_id, JobStatus.SUCCEEDED)
        await until(lambda: len(blocked) >= 2, "the beginning and the end")

    assert taken == []
    assert "time.sleep" in blocked[0].stack
    assert blocked[-1].blocked > KEPT
    said = [record.getMessage() for record in caplog.records if record.name == "klokka.watchdog"]
    assert any("has blocked the event loop" in message for message in said)
    assert any("runs again" in message for message in said)


async def test_a_job_that_blocks_the_loop_beyond_its_timeout_is_renewed_no_longer(store: FlakyStore) -> None:
    renewed: list[float] = []

    async def run(payload: Any, job: JobContext) -> None:
        if job.attempt == 1:
            time.sleep(6 * SHORT.total_seconds())  # noqa: ASYNC251
            renewed.append(store.weather.calls["heartbeat"])

    [job_id] = await enqueue(store, 1)
    async with working(
        store,
        handler(run, retry=Exponential(), timeout=timedelta(seconds=0.05)),
        lease=SHORT,
        blocked_after=timedelta(seconds=0.1),
    ):
        details = await status(store, job_id, JobStatus.SUCCEEDED)

    assert details.lapses == 1
    assert renewed[0] <= 7  # and not eighteen


async def test_a_renewal_that_takes_long_counts_against_the_lease(store: FlakyStore) -> None:
    run = Waiting()
    [job_id] = await enqueue(store, 1)
    heartbeat = FlakyStore.heartbeat

    async def slow(self: FlakyStore, *args: Any, **kwargs: Any) -> Any:
        kept = await heartbeat(self, *args, **kwargs)
        await asyncio.sleep(2 * SHORT.total_seconds())
        return kept

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(FlakyStore, "heartbeat", slow)
        async with working(store, handler(run, retry=Exponential()), lease=SHORT):
            await until(lambda: run.cancelled >= 1, "the lease to be counted as lost")
            run.go.set()
            await status(store, job_id, JobStatus.SUCCEEDED)


async def test_the_fleet_sees_the_worker_while_it_lives(store: FlakyStore) -> None:
    run = Waiting()
    await enqueue(store, 1)

    async with working(store, handler(run), lease=SHORT) as worker:
        await run.begun.wait()

        async def seen_busy() -> bool:
            rows = await store.workers()
            return bool(rows) and rows[0].live and rows[0].beat.busy == 1

        await until(seen_busy, "a beat")
        [row] = await store.workers()
        run.go.set()

    assert (row.beat.id, row.beat.queues, row.beat.kinds, row.beat.slots) == (worker.id, ("default",), ("a",), 4)
    assert await store.workers() == []


async def test_each_start_has_an_identity_of_its_own(store: FlakyStore) -> None:
    async with working(store, handler(Waiting())) as one, working(store, handler(Waiting())) as two:
        pass

    assert one.id != two.id


async def test_a_lease_counts_from_before_its_renewal_was_sent(store: FlakyStore) -> None:
    await enqueue(store, 1)
    [job] = await stolen(store)
    held = HeldJobs()
    claim = Held(job, handler(Waiting()), claimed=time.monotonic(), deadline=time.monotonic() + 60)
    held.add(claim)
    sent: list[float] = []

    class Slow:
        async def heartbeat(self, *args: Any, **kwargs: Any) -> Any:
            sent.append(time.monotonic())
            kept = await store.heartbeat(*args, **kwargs)
            await asyncio.sleep(0.1)
            return kept

    beating = asyncio.create_task(
        Heartbeater(
            Slow(),  # type: ignore[arg-type]
            held,
            worker=OTHER,
            lease=timedelta(hours=1),
            lost=lambda held: None,
            blocked=lambda: False,
        ).run()
    )
    before = claim.deadline
    await until(lambda: claim.deadline > before, "the renewal")
    beating.cancel()

    assert claim.deadline <= sent[0] + 3600


async def test_a_claim_that_takes_longer_than_its_lease_starts_nothing(store: FlakyStore, caplog: Any) -> None:
    attempts: list[int] = []
    [job_id] = await enqueue(store, 1)
    claim = FlakyStore.claim
    late = [2 * SHORT.total_seconds()]

    async def slow(self: FlakyStore, *args: Any, **kwargs: Any) -> Any:
        claimed = await claim(self, *args, **kwargs)
        await asyncio.sleep(late.pop() if late else 0)
        return claimed

    async def run(payload: Any, job: JobContext) -> None:
        attempts.append(job.attempt)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(FlakyStore, "claim", slow)
        async with working(store, handler(run, retry=Exponential()), lease=SHORT):
            await status(store, job_id, JobStatus.SUCCEEDED)

    assert attempts == [2]
    assert any("took longer than its lease" in record.getMessage() for record in caplog.records)
