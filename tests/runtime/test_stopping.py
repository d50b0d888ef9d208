"""How a worker stops, in whatever phase it is asked to."""

import asyncio
import gc
import threading
import time
from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest

from klokka.core.policies import Exponential
from klokka.core.states import JobStatus
from klokka.errors import MisuseError, SchemaMismatch, StoreUnavailable
from klokka.runtime.bus import EventBus
from klokka.runtime.context import JobContext
from klokka.runtime.handlers import Executor
from klokka.runtime.worker import Worker
from klokka.spi.wakeups import LONGEST_SLEEP
from klokka.stores.memory.store import MemoryStore
from tests.support.flaky import FlakyStore
from tests.support.working import enqueue, handler, settings, status, until, working

NONE = timedelta(0)
SHORT = timedelta(seconds=0.2)


class Waiting:
    """An async handler that runs until it is let go."""

    def __init__(self) -> None:
        self.begun: list[Any] = []
        self.go = asyncio.Event()

    async def __call__(self, payload: Any, job: JobContext) -> None:
        self.begun.append(payload)
        await self.go.wait()


async def quick(payload: Any, job: JobContext) -> None: ...


def made(store: Any, *handlers: Any, **changes: Any) -> Worker:
    return Worker(store, {each.kind: each for each in handlers}, settings(**changes), events=EventBus())


async def test_running_work_finishes_within_the_grace(store: FlakyStore) -> None:
    run = Waiting()
    [job_id] = await enqueue(store, 1)

    async with working(store, handler(run)) as worker:
        await until(lambda: bool(run.begun), "the job to begin")
        stopping = asyncio.create_task(worker.stop())
        await asyncio.sleep(0.05)
        assert not stopping.done()
        run.go.set()
        await stopping

    assert (await status(store, job_id, JobStatus.SUCCEEDED)).summary.attempt == 1


async def test_work_never_started_goes_back_at_once_and_costs_no_attempt(store: FlakyStore) -> None:
    run = Waiting()
    quick_ids = await enqueue(store, *range(100), kind="q")
    await enqueue(store, *range(4))
    rest = await enqueue(store, *range(50), kind="q")

    async with working(store, handler(run), handler(quick, kind="q"), poll=LONGEST_SLEEP) as worker:
        await until(lambda: len(run.begun) == 4, "all slots to be taken")
        worker.stop_soon()

        async def back() -> bool:
            counts = await store.counts_by_status()
            return counts[JobStatus.ENQUEUED] == 50

        await until(back, "the rest to be back while others still run")
        run.go.set()

    await status(store, quick_ids[0], JobStatus.SUCCEEDED)
    attempts = {details.summary.attempt for each in rest if (details := await store.get_job(each))}
    assert attempts == {0}


async def test_a_claim_in_flight_at_the_stop_is_awaited_and_handed_back(store: FlakyStore) -> None:
    gate = store.weather.hold("claim", after=True)
    [job_id] = await enqueue(store, 1)

    async with working(store, handler(quick)) as worker:
        await gate.reached.wait()
        worker.stop_soon()
        await asyncio.sleep(0.02)
        gate.open()
        await worker.stopped()

    assert (await status(store, job_id, JobStatus.ENQUEUED)).summary.attempt == 0


async def test_what_does_not_finish_is_cancelled_and_handed_back_charged(store: FlakyStore) -> None:
    run = Waiting()
    [job_id] = await enqueue(store, 1)

    async with working(store, handler(run), grace=NONE):
        await until(lambda: bool(run.begun), "the job to begin")

    details = await status(store, job_id, JobStatus.ENQUEUED)
    assert (details.summary.attempt, details.lapses, details.lease_until) == (1, 0, None)


async def test_a_job_that_finishes_in_spite_of_its_cancellation_is_done(store: FlakyStore) -> None:
    begun = asyncio.Event()

    async def run(payload: Any, job: JobContext) -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await asyncio.sleep(0.01)  # the last page is written

    [job_id] = await enqueue(store, 1)
    async with working(store, handler(run), grace=NONE):
        await begun.wait()

    await status(store, job_id, JobStatus.SUCCEEDED)


async def test_a_second_demand_cuts_the_grace_short(store: FlakyStore) -> None:
    run = Waiting()
    [job_id] = await enqueue(store, 1)

    async with working(store, handler(run), grace=timedelta(hours=1)) as worker:
        await until(lambda: bool(run.begun), "the job to begin")
        worker.stop_soon()
        worker.stop_now()
        await asyncio.wait_for(worker.stopped(), 10)

    await status(store, job_id, JobStatus.ENQUEUED)


async def test_a_handler_that_swallows_cancellation_is_left_at_the_hard_stop_and_named(
    store: FlakyStore, caplog: Any
) -> None:
    begun, end = asyncio.Event(), asyncio.Event()

    async def run(payload: Any, job: JobContext) -> None:
        begun.set()
        while not end.is_set():
            try:
                await end.wait()
            except asyncio.CancelledError:
                continue

    [job_id] = await enqueue(store, 1)
    async with working(store, handler(run), grace=NONE, hard_stop=SHORT) as worker:
        await begun.wait()
        began = time.monotonic()
        await worker.stop()
        took = time.monotonic() - began
    end.set()

    assert took < 5
    assert any(f"job {job_id} (a) did not end" in record.getMessage() for record in caplog.records)
    assert (await status(store, job_id, JobStatus.RUNNING)).summary.attempt == 1  # its lease runs out


def test_a_handler_that_is_left_does_not_hold_up_the_end_of_the_loop() -> None:
    async def run(payload: Any, job: JobContext) -> None:
        while True:
            with suppress(asyncio.CancelledError):
                await asyncio.Event().wait()

    async def main() -> None:
        store = MemoryStore()
        await store.open()
        [job_id] = await enqueue(store, 1)
        async with working(store, handler(run), grace=NONE, hard_stop=SHORT):
            await status(store, job_id, JobStatus.RUNNING)

    began = time.monotonic()
    asyncio.run(main())
    gc.collect()

    assert time.monotonic() - began < 10


async def test_a_thread_that_does_not_end_is_left_behind(store: FlakyStore) -> None:
    begun, end = threading.Event(), threading.Event()

    def run(payload: Any, job: JobContext) -> None:
        begun.set()
        end.wait(20)

    [job_id] = await enqueue(store, 1)
    async with working(store, handler(run, executor=Executor.THREAD), grace=NONE, hard_stop=SHORT) as worker:
        await until(begun.is_set, "the thread to begin")
        await asyncio.wait_for(worker.stop(), 10)
    end.set()

    await status(store, job_id, JobStatus.RUNNING)
    leftover = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    assert leftover == []


async def test_threads_end_with_the_worker_and_with_them_what_they_keep(store: FlakyStore) -> None:
    closed = threading.Event()

    class Connection:
        def __del__(self) -> None:
            closed.set()

    local = threading.local()

    def run(payload: Any, job: JobContext) -> None:
        local.connection = Connection()

    [job_id] = await enqueue(store, 1)
    async with working(store, handler(run, executor=Executor.THREAD)):
        await status(store, job_id, JobStatus.SUCCEEDED)

    await until(closed.is_set, "the thread's connection to be closed")


async def test_a_stop_before_the_start_is_honoured(store: FlakyStore) -> None:
    [job_id] = await enqueue(store, 1)
    worker = made(store, handler(quick))

    await worker.stop()
    await worker.stop()
    async with worker:
        await worker.stopped()

    await status(store, job_id, JobStatus.ENQUEUED)


async def test_a_stop_during_the_start_is_honoured() -> None:
    store = FlakyStore()
    gate = store.weather.hold("open")
    worker = made(store, handler(quick))

    entering = asyncio.create_task(worker.__aenter__())
    await gate.reached.wait()
    await asyncio.wait_for(worker.stop(), 10)
    await asyncio.wait_for(entering, 10)


async def test_a_stop_during_an_outage_is_honoured(store: FlakyStore) -> None:
    worker = made(store, handler(quick))
    store.weather.take_away()

    entering = asyncio.create_task(worker.__aenter__())
    await until(lambda: store.weather.calls["open"] >= 2, "tries to open")
    await asyncio.wait_for(worker.stop(), 10)
    await asyncio.wait_for(entering, 10)


async def test_stopping_twice_is_stopping_once(store: FlakyStore) -> None:
    async with working(store, handler(quick)) as worker:
        await asyncio.gather(worker.stop(), worker.stop())
        await worker.stop()
        worker.stop_now()


def test_a_stop_after_the_loop_has_ended_returns_and_ends_the_renewals() -> None:
    store = MemoryStore()
    worker = made(store, handler(quick), blocked_after=SHORT)

    async def start_only() -> None:
        await worker.__aenter__()

    asyncio.run(start_only())
    asyncio.run(worker.stop())

    deadline = time.monotonic() + 10
    while any(thread.name == "klokka-pulse" for thread in threading.enumerate()):
        assert time.monotonic() < deadline
        time.sleep(0.01)


async def test_a_worker_is_started_once(store: FlakyStore) -> None:
    async with working(store, handler(quick)) as worker:
        with pytest.raises(MisuseError, match="started before"):
            await worker.__aenter__()


async def test_a_schema_of_another_version_is_raised_where_the_worker_is_entered(store: FlakyStore) -> None:
    store.weather.fail("open", SchemaMismatch("version 9 is newer than 3"))

    with pytest.raises(SchemaMismatch):
        async with working(store, handler(quick)):
            raise AssertionError("it must not start")


async def test_a_block_left_by_cancellation_stops_the_worker(store: FlakyStore) -> None:
    run = Waiting()
    [job_id] = await enqueue(store, 1)

    async def serve() -> None:
        async with made(store, handler(run), grace=timedelta(hours=1)):
            await asyncio.Event().wait()

    task = asyncio.create_task(serve())
    await until(lambda: bool(run.begun), "the job to begin")
    task.cancel()
    await asyncio.sleep(0.05)
    task.cancel()  # impatient: cuts the grace short
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, 10)

    await status(store, job_id, JobStatus.ENQUEUED)


async def test_two_workers_of_one_process_that_stop_together_run_no_job_twice(store: FlakyStore) -> None:
    ran: list[int] = []

    async def run(payload: Any, job: JobContext) -> None:
        ran.append(job.id)
        await asyncio.sleep(0.001)

    ids = await enqueue(store, *range(400))
    async with working(store, handler(run)) as one, working(store, handler(run)) as two:
        await until(lambda: len(ran) >= 50, "both to be busy")
        await asyncio.gather(one.stop(), two.stop())
    async with working(store, handler(run)):
        for each in ids:
            await status(store, each, JobStatus.SUCCEEDED)

    assert sorted(ran) == sorted(ids)


async def test_an_outage_at_the_stop_does_not_hold_the_worker_for_ever(store: FlakyStore, caplog: Any) -> None:
    run = Waiting()
    await enqueue(store, 1)

    async with working(store, handler(run), hard_stop=SHORT) as worker:
        await until(lambda: bool(run.begun), "the job to begin")
        store.weather.take_away()
        run.go.set()
        await asyncio.wait_for(worker.stop(), 10)

    assert any("could not be written before the end" in record.getMessage() for record in caplog.records)


async def test_results_wait_out_an_outage_and_no_job_runs_twice(store: FlakyStore) -> None:
    ran: list[int] = []

    async def run(payload: Any, job: JobContext) -> None:
        ran.append(job.id)
        if len(ran) == 20:
            store.weather.take_away()

    ids = await enqueue(store, *range(60))
    async with working(store, handler(run, retry=Exponential())):
        await until(lambda: store.weather.calls["transition_many"] >= 3, "tries to write")
        store.weather.give_back()
        for each in ids:
            await status(store, each, JobStatus.SUCCEEDED)

    assert sorted(ran) == sorted(ids)


async def test_a_stop_from_another_loop_is_refused_with_the_way_to_do_it(store: FlakyStore) -> None:
    async with working(store, handler(quick)) as worker:
        error = await asyncio.to_thread(lambda: asyncio.run(_stopped(worker)))

    assert error is not None
    assert "call_soon_threadsafe" in str(error)


async def _stopped(worker: Worker) -> Exception | None:
    try:
        await worker.stopped()
    except MisuseError as error:
        return error
    return None


async def test_an_unavailable_store_at_the_start_is_no_error(store: FlakyStore) -> None:
    store.weather.fail("open", *[StoreUnavailable("not yet")] * 3)

    async with working(store, handler(quick)):
        pass
