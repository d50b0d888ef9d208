"""Deleting what is old, in steps that disturb nobody."""

import asyncio
import time
from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest

from klokka.core.records import RetentionPolicy, SweepReport
from klokka.core.states import JobStatus
from klokka.errors import Busy
from klokka.runtime import sweeper as module
from klokka.runtime.context import JobContext
from klokka.runtime.sweeper import Sweeper
from tests.support.flaky import FlakyStore
from tests.support.working import enqueue, handler, until, working

SOON = timedelta(milliseconds=1)


class Steps:
    """A store of which only sweeping is used; it notes the limits it was given."""

    def __init__(self, *answers: SweepReport | Exception, seconds: float = 0.0) -> None:
        self.limits: list[int] = []
        self.begun: list[float] = []
        self.ended: list[float] = []
        self._answers = list(answers)
        self._seconds = seconds

    async def sweep(self, retention: RetentionPolicy, *, limit: int) -> SweepReport:
        self.limits.append(limit)
        self.begun.append(time.monotonic())
        await asyncio.sleep(self._seconds)
        self.ended.append(time.monotonic())
        answer = self._answers.pop(0) if self._answers else SweepReport(jobs=0, keys=0, more=False)
        if isinstance(answer, Exception):
            raise answer
        return answer


def more(count: int = 1) -> SweepReport:
    return SweepReport(jobs=count, keys=0, more=True)


async def swept(store: Any, calls: int) -> None:
    """Sweeps until there were so many calls."""
    task = asyncio.create_task(Sweeper(store, RetentionPolicy(), SOON).run())
    try:
        await until(lambda: len(store.limits) >= calls, f"{calls} steps")
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def test_goes_on_at_once_while_more_is_left() -> None:
    store = Steps(*[more()] * 20)

    async with asyncio.timeout(5):
        await swept(store, 21)


async def test_rests_as_long_as_each_step_took() -> None:
    store = Steps(*[more()] * 5, seconds=0.02)

    await swept(store, 5)

    rests = [begun - ended for begun, ended in zip(store.begun[1:], store.ended, strict=False)]
    steps = [ended - begun for begun, ended in zip(store.begun, store.ended, strict=False)]
    assert all(rest >= step - 0.001 for rest, step in zip(rests, steps, strict=False))


async def test_a_busy_store_makes_the_next_step_smaller() -> None:
    store = Steps(Busy("locked"), Busy("locked"), more())

    await swept(store, 4)

    assert store.limits[:4] == [1000, 500, 250, 500]


async def test_a_step_that_takes_long_makes_the_next_one_smaller(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_LONG", 0.01)
    store = Steps(*[more()] * 9, seconds=0.02)

    await swept(store, 9)

    assert store.limits[:3] == [1000, 500, 250]
    assert min(store.limits) == 10


async def test_a_worker_deletes_what_is_over_and_nothing_that_lives(store: FlakyStore) -> None:
    async def run(payload: Any, job: JobContext) -> None: ...

    await enqueue(store, *range(50))
    await enqueue(store, 1, run_at=timedelta(hours=1))
    retention = RetentionPolicy(succeeded_for=timedelta(0))

    async with working(store, handler(run), retention=retention, sweep_every=timedelta(milliseconds=20)):

        async def gone() -> bool:
            counts = await store.counts_by_status()
            return counts[JobStatus.SUCCEEDED] == 0 and counts[JobStatus.SCHEDULED] == sum(counts.values()) == 1

        await until(gone, "the succeeded to be swept")


async def test_a_sweep_under_way_does_not_hold_up_the_stop(store: FlakyStore) -> None:
    async def run(payload: Any, job: JobContext) -> None: ...

    gate = store.weather.hold("sweep")
    async with working(store, handler(run), sweep_every=timedelta(milliseconds=10)) as worker:
        await gate.reached.wait()
        await asyncio.wait_for(worker.stop(), 2)
