"""Many jobs through one worker: nothing grows with their number."""

import gc
import logging
from datetime import timedelta
from typing import Any

import pytest

from klokka.core.policies import Intervals
from klokka.core.states import JobStatus
from klokka.runtime.context import JobContext
from tests.support.flaky import FlakyStore
from tests.support.working import enqueue, handler, until, working

ROUND = 300


async def test_memory_stays_flat_over_many_jobs(store: FlakyStore, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL, logger="klokka")  # what is captured would be all that grows
    ran = 0

    async def run(payload: Any, job: JobContext) -> None:
        nonlocal ran
        ran += 1
        if payload % 3 == 0 and job.attempt == 1:
            raise ValueError("every third")

    async def one_round() -> int:
        aim = ran + ROUND + ROUND // 3
        ids = await enqueue(store, *range(ROUND))
        await until(lambda: ran == aim, "a round")

        async def settled() -> bool:
            return (await store.counts_by_status())[JobStatus.SUCCEEDED] == ROUND

        await until(settled, "it to be written")
        for each in ids:
            await store.delete(each)
        gc.collect()
        return len(gc.get_objects())

    async with working(store, handler(run, retry=Intervals((timedelta(0),)))):
        await one_round()
        first = await one_round()
        last = [await one_round() for _ in range(4)][-1]

    assert last - first < 2 * (ROUND // 3)  # not half an object for each that failed in the four rounds between
