"""What handlers may do to themselves, and that the worker and the other jobs go on."""

import asyncio
import json
import sys
from datetime import timedelta
from typing import Any

import pytest

from klokka.core.policies import Exponential, Intervals
from klokka.core.states import JobStatus
from klokka.errors import JobTimeout, PayloadUndecodable, StoreUnavailable
from klokka.runtime.context import JobContext
from klokka.runtime.handlers import Executor, Handler
from tests.support.flaky import FlakyStore
from tests.support.process_handlers import plain
from tests.support.working import enqueue, handler, status, until, working


async def quick(payload: Any, job: JobContext) -> None: ...


@pytest.mark.parametrize("executor", [Executor.LOOP, Executor.THREAD])
@pytest.mark.parametrize("error", [SystemExit, KeyboardInterrupt, GeneratorExit, asyncio.CancelledError, MemoryError])
async def test_whatever_a_handler_raises_fails_its_job_and_no_other(
    store: FlakyStore, error: type[BaseException], executor: Executor
) -> None:
    async def run_async(payload: Any, job: JobContext) -> None:
        raise error("mine")

    def run_sync(payload: Any, job: JobContext) -> None:
        raise error("mine")

    bad = handler(run_async if executor is Executor.LOOP else run_sync, kind="bad", executor=executor)
    [bad_id] = await enqueue(store, 1, kind="bad")
    async with working(store, bad, handler(quick)):
        details = await status(store, bad_id, JobStatus.DEAD_LETTERED)
        [good_id] = await enqueue(store, 1)
        await status(store, good_id, JobStatus.SUCCEEDED)

    assert details.last_error is not None
    assert error.__name__ in details.last_error.type


async def test_a_handler_that_cancels_its_own_task_fails_alone(store: FlakyStore) -> None:
    async def run(payload: Any, job: JobContext) -> None:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await asyncio.sleep(0)

    [job_id] = await enqueue(store, 1)
    async with working(store, handler(run)):
        details = await status(store, job_id, JobStatus.DEAD_LETTERED)

    assert details.last_error is not None
    assert details.last_error.type.endswith("CancelledError")


async def test_a_payload_that_no_longer_decodes_is_a_dead_letter_at_once_and_keeps_its_text(store: FlakyStore) -> None:
    def decode(text: str) -> Any:
        raise PayloadUndecodable("field gone")

    strict = Handler(kind="a", decode=decode, run=quick, executor=Executor.LOOP, retry=Exponential(max_attempts=50))
    [job_id] = await enqueue(store, {"old": 1})
    async with working(store, strict):
        details = await status(store, job_id, JobStatus.DEAD_LETTERED)

    assert json.loads(details.payload) == {"old": 1}
    assert details.summary.attempt == 1


async def test_an_error_that_cannot_be_shown_is_stored_all_the_same(store: FlakyStore) -> None:
    class Hostile(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    async def run(payload: Any, job: JobContext) -> None:
        raise Hostile if payload == "rude" else ValueError("\0\ud800" + "x" * 10_000_000)

    ids = await enqueue(store, "rude", "long")
    async with working(store, handler(run)):
        errors = [(await status(store, each, JobStatus.DEAD_LETTERED)).last_error for each in ids]

    assert all(error is not None and len(error.message) < 10_000 for error in errors)


async def test_the_log_says_how_long_a_retry_waits_as_people_say_it(store: FlakyStore, caplog: Any) -> None:
    async def run(payload: Any, job: JobContext) -> None:
        raise ValueError("no")

    retry = Intervals((timedelta(seconds=11, microseconds=714_489),))
    await enqueue(store, 1)
    async with working(store, handler(run, retry=retry)):
        await until(lambda: "runs again in 11.7 s: ValueError: no" in caplog.text, "the retry to be said")


async def test_a_policy_that_fails_is_said_once_for_each_failure_of_a_job(store: FlakyStore, caplog: Any) -> None:
    def policy(attempt: int, error: BaseException) -> timedelta:
        raise LookupError("a bug in a policy")

    async def run(payload: Any, job: JobContext) -> None:
        raise ValueError("no")

    [job_id] = await enqueue(store, 1)
    async with working(store, handler(run, retry=policy)):
        details = await status(store, job_id, JobStatus.FAILED)
        await until(lambda: "runs again in 1 m: ValueError: no" in caplog.text, "the retry to be said")

    [said] = [record for record in caplog.records if "retry policy" in record.getMessage()]
    assert f"the retry policy of job {job_id} (a) failed" in said.getMessage()
    assert "tried again in 1 m instead" in said.getMessage()
    assert said.exc_info is not None
    assert isinstance(said.exc_info[1], LookupError)
    assert details.last_error is not None
    assert details.last_error.message == "no"
    assert details.last_error.traceback.endswith("The retry policy failed with LookupError: a bug in a policy\n")


async def test_a_policy_that_ends_the_process_strands_no_place(store: FlakyStore, caplog: Any) -> None:
    def policy(attempt: int, error: BaseException) -> timedelta:
        sys.exit("a bug in a policy")

    async def run(payload: Any, job: JobContext) -> None:
        raise ValueError

    await enqueue(store, *range(3), kind="bad")
    async with working(store, handler(run, kind="bad", retry=policy), handler(quick), concurrency=1):
        await until(lambda: "what follows" in caplog.text, "the bug to be said")
        [job_id] = await enqueue(store, 1)
        await status(store, job_id, JobStatus.SUCCEEDED)


async def test_a_timeout_is_a_failure_that_can_be_retried(store: FlakyStore) -> None:
    seen: list[BaseException] = []

    def policy(attempt: int, error: BaseException) -> timedelta | None:
        seen.append(error)
        return timedelta(0)

    async def run(payload: Any, job: JobContext) -> None:
        if job.attempt == 1:
            await asyncio.Event().wait()

    [job_id] = await enqueue(store, 1)
    async with working(store, handler(run, retry=policy, timeout=timedelta(milliseconds=30))):
        await status(store, job_id, JobStatus.SUCCEEDED)

    assert [type(error) for error in seen] == [JobTimeout]


async def test_process_handlers_are_killed_at_their_timeout(store: FlakyStore) -> None:
    endless = Handler(
        kind="endless",
        decode=plain,
        run=_sleep_for_ever,
        executor=Executor.PROCESS,
        retry=Intervals(()),
        timeout=timedelta(seconds=0.1),
    )
    [job_id] = await enqueue(store, 1, kind="endless")
    async with working(store, endless, concurrency=1):
        details = await status(store, job_id, JobStatus.DEAD_LETTERED)

    assert details.last_error is not None
    assert details.last_error.type == "klokka.errors.JobTimeout"


def _sleep_for_ever(payload: Any, job: JobContext) -> None:
    import threading

    threading.Event().wait()


async def test_work_is_found_by_polling_while_wakeups_are_down(store: FlakyStore) -> None:
    async def down() -> Any:
        raise StoreUnavailable("the listening connection is gone")
        yield

    store.wakeups = down  # type: ignore[method-assign]
    async with working(store, handler(quick), poll=timedelta(milliseconds=50)):
        await until(lambda: store.weather.calls["next_due"] > 0, "the worker to rest")
        [job_id] = await enqueue(store, 1)
        await status(store, job_id, JobStatus.SUCCEEDED)
