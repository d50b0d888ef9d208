"""How far a job says it is."""

import asyncio
import threading
from typing import Any

import pytest

from klokka.core.ids import JobId
from klokka.core.states import JobStatus
from klokka.errors import InvalidInput, StoreUnavailable
from klokka.runtime.context import JobContext, current_job
from klokka.runtime.handlers import Executor
from tests.support.flaky import FlakyStore
from tests.support.working import enqueue, handler, status, until, working


def shown(store: FlakyStore, job_id: JobId, value: float) -> Any:
    async def condition() -> bool:
        details = await store.get_job(job_id)
        return details is not None and details.progress == value

    return condition


async def test_an_async_handler_reports_and_it_is_kept(store: FlakyStore) -> None:
    go = asyncio.Event()

    async def run(payload: Any, job: JobContext) -> None:
        await job.progress(0.5)
        await go.wait()

    [job_id] = await enqueue(store, 1)
    async with working(store, handler(run)):
        await until(shown(store, job_id, 0.5), "the progress")
        go.set()


async def test_a_thread_reports_without_waiting_and_the_last_value_stands(store: FlakyStore) -> None:
    go = threading.Event()

    def run(payload: Any, job: JobContext) -> None:
        for step in range(1000):
            current_job().progress_sync(step / 1000)
        current_job().progress_sync(1.0)
        go.wait(20)

    [job_id] = await enqueue(store, 1)
    async with working(store, handler(run, executor=Executor.THREAD)):
        await until(shown(store, job_id, 1.0), "the progress")
        go.set()


async def test_a_value_that_cannot_be_kept_fails_no_job(store: FlakyStore) -> None:
    async def unavailable(*args: Any, **kwargs: Any) -> bool:
        raise StoreUnavailable("away")

    store.report_progress = unavailable  # type: ignore[method-assign]

    async def run(payload: Any, job: JobContext) -> None:
        await job.progress(0.5)

    [job_id] = await enqueue(store, 1)
    async with working(store, handler(run)):
        await status(store, job_id, JobStatus.SUCCEEDED)


@pytest.mark.parametrize("value", [-0.1, 1.1, float("nan"), "50%", None])
async def test_a_value_that_is_no_share_is_refused_at_the_call(store: FlakyStore, value: Any) -> None:
    refused: list[str] = []

    async def run(payload: Any, job: JobContext) -> None:
        with pytest.raises(InvalidInput) as said:
            await job.progress(value)
        with pytest.raises(InvalidInput):
            job.progress_sync(value)
        refused.append(str(said.value))

    [job_id] = await enqueue(store, 1)
    async with working(store, handler(run)):
        await status(store, job_id, JobStatus.SUCCEEDED)

    assert refused == [f"progress must be a number from 0.0 to 1.0, not {value!r}."]
