"""Running one claimed job, without a worker."""

import asyncio
import contextvars
import json
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from datetime import timedelta
from typing import Any

import pytest

from klokka.core.outcomes import Outcome, Snooze
from klokka.errors import JobTimeout, MisuseError, PayloadUndecodable
from klokka.runtime.context import JobContext, current_job
from klokka.runtime.execution import Execution
from klokka.runtime.handlers import Executor, Interceptor
from klokka.runtime.threads import Threads
from klokka.runtime.verdict import Result
from tests.runtime.test_verdict import a_job
from tests.support.working import handler

SHORT = timedelta(seconds=0.05)


@pytest.fixture
def threads() -> Generator[Threads]:
    threads = Threads()
    yield threads
    threads.close()


async def executed(run: Any, threads: Threads, *interceptors: Interceptor, **options: Any) -> Result:
    job = a_job()
    execution = Execution(threads=threads, interceptors=interceptors)
    return await asyncio.wait_for(execution.run(job, handler(run, **options), JobContext(job)), 10)


async def test_the_order_is_context_timeout_interceptors_handler(threads: Threads) -> None:
    order: list[str] = []

    def wrap(name: str) -> Interceptor:
        async def interceptor(job: JobContext, call: Callable[[], Awaitable[Outcome]]) -> Outcome:
            order.append(f"{name} of {current_job().id}")
            try:
                return await call()
            finally:
                order.append(f"{name} after")

        return interceptor

    async def run(payload: Any, job: JobContext) -> Outcome:
        order.append(f"handler of {current_job().id}")
        return Snooze(SHORT)

    result = await executed(run, threads, wrap("first"), wrap("second"))

    assert order == ["first of 7", "second of 7", "handler of 7", "second after", "first after"]
    assert result.outcome == Snooze(SHORT)
    with pytest.raises(MisuseError):
        current_job()


async def test_the_timeout_covers_interceptors(threads: Threads) -> None:
    async def stall(job: JobContext, call: Callable[[], Awaitable[Outcome]]) -> Outcome:
        await asyncio.Event().wait()
        return await call()

    async def run(payload: Any, job: JobContext) -> None: ...

    result = await executed(run, threads, stall, timeout=SHORT)

    assert isinstance(result.error, JobTimeout)


async def test_an_async_handler_is_cancelled_at_its_timeout_and_the_error_shows_where_it_stood(
    threads: Threads,
) -> None:
    told: list[bool] = []

    async def run(payload: Any, job: JobContext) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            told.append(job.cancelled)

    result = await executed(run, threads, timeout=SHORT)

    assert isinstance(result.error, JobTimeout)
    assert result.error.__cause__ is not None
    assert told == [True]


async def test_a_handler_that_swallows_the_timeout_has_timed_out_all_the_same(threads: Threads) -> None:
    async def run(payload: Any, job: JobContext) -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return

    result = await executed(run, threads, timeout=SHORT)

    assert isinstance(result.error, JobTimeout)


async def test_a_thread_is_told_of_its_timeout_and_fails_when_it_ends(threads: Threads) -> None:
    def run(payload: Any, job: JobContext) -> None:
        while not job.cancelled:
            threading.Event().wait(0.005)

    result = await executed(run, threads, executor=Executor.THREAD, timeout=SHORT)

    assert isinstance(result.error, JobTimeout)


async def test_a_time_out_of_the_handlers_own_is_its_failure(threads: Threads) -> None:
    async def run(payload: Any, job: JobContext) -> None:
        async with asyncio.timeout(0.01):
            await asyncio.Event().wait()

    result = await executed(run, threads, timeout=timedelta(seconds=5))

    assert type(result.error) is TimeoutError


@pytest.mark.parametrize("executor", [Executor.LOOP, Executor.THREAD])
@pytest.mark.parametrize("error", [SystemExit, KeyboardInterrupt, GeneratorExit, asyncio.CancelledError, Exception])
async def test_whatever_a_handler_raises_is_a_failure_of_its_job(
    threads: Threads, executor: Executor, error: type[BaseException]
) -> None:
    async def run_async(payload: Any, job: JobContext) -> None:
        raise error

    def run_sync(payload: Any, job: JobContext) -> None:
        raise error

    result = await executed(run_async if executor is Executor.LOOP else run_sync, threads, executor=executor)

    assert type(result.error) is error


@pytest.mark.parametrize("executor", [Executor.LOOP, Executor.THREAD])
async def test_a_stop_iteration_is_a_failure_too(threads: Threads, executor: Executor) -> None:
    async def run_async(payload: Any, job: JobContext) -> None:
        raise StopIteration

    def run_sync(payload: Any, job: JobContext) -> None:
        raise StopIteration

    result = await executed(run_async if executor is Executor.LOOP else run_sync, threads, executor=executor)

    assert isinstance(result.error, RuntimeError)


async def test_a_payload_that_does_not_decode_fails_before_the_handler(threads: Threads) -> None:
    def decode(text: str) -> Any:
        raise PayloadUndecodable(text)

    async def run(payload: Any, job: JobContext) -> None:
        raise AssertionError("it must not run")

    job = a_job()
    made = handler(run)
    result = await Execution(threads=threads).run(
        job, type(made)(kind="a", decode=decode, run=run, executor=Executor.LOOP), JobContext(job)
    )

    assert isinstance(result.error, PayloadUndecodable)


async def test_context_variables_of_interceptors_are_seen_in_threads(threads: Threads) -> None:
    trace: contextvars.ContextVar[str] = contextvars.ContextVar("trace")

    async def interceptor(job: JobContext, call: Callable[[], Awaitable[Outcome]]) -> Outcome:
        trace.set("abc")
        return await call()

    seen: list[str] = []

    def run(payload: Any, job: JobContext) -> None:
        seen.append(trace.get())

    result = await executed(run, threads, interceptor, executor=Executor.THREAD)

    assert (result.error, seen) == (None, ["abc"])


async def test_cancelled_from_outside_it_ends_the_handler_and_is_cancelled(threads: Threads) -> None:
    begun, ended = asyncio.Event(), asyncio.Event()

    async def run(payload: Any, job: JobContext) -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    task = asyncio.create_task(executed(run, threads))
    await begun.wait()
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended.is_set()


async def test_cancelled_from_outside_after_its_timeout_it_is_cancelled(threads: Threads) -> None:
    late = asyncio.Event()
    end = asyncio.Event()

    async def run(payload: Any, job: JobContext) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            late.set()
            await end.wait()

    task = asyncio.create_task(executed(run, threads, timeout=SHORT))
    await late.wait()
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task


@pytest.mark.parametrize("how", ["late", "exit", "done"])
async def test_a_timeout_leaves_no_trace_on_the_callers_task(threads: Threads, how: str) -> None:
    async def run(payload: Any, job: JobContext) -> None:
        if how == "late":
            await asyncio.Event().wait()
        if how == "exit":
            raise SystemExit

    job = a_job()
    await Execution(threads=threads).run(job, handler(run, timeout=SHORT), JobContext(job))
    await asyncio.sleep(2 * SHORT.total_seconds())

    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0


async def test_a_thread_is_used_again(threads: Threads) -> None:
    seen: set[int] = set()

    def run(payload: Any, job: JobContext) -> None:
        seen.add(threading.get_ident())

    for _ in range(5):
        await executed(run, threads, executor=Executor.THREAD)

    assert len(seen) == 1


async def test_what_decode_gives_reaches_the_handler(threads: Threads) -> None:
    seen: list[Any] = []

    async def run(payload: Any, job: JobContext) -> None:
        seen.append(payload)

    await executed(run, threads)

    assert seen == [json.loads(a_job().payload)]


async def _inner() -> None: ...


def _generator() -> Generator[int]:
    yield 1


async def _async_generator() -> AsyncGenerator[int]:
    yield 1


@pytest.mark.parametrize("unrun", [_inner, _generator, _async_generator])
async def test_a_handler_whose_body_never_ran_has_failed(unrun: Any, threads: Threads) -> None:
    async def on_loop(payload: Any, job: JobContext) -> Any:
        return unrun()

    for run, executor in ((on_loop, Executor.LOOP), (lambda payload, job: unrun(), Executor.THREAD)):
        result = await executed(run, threads, executor=executor)

        assert isinstance(result.error, TypeError)
        assert "which nobody runs" in str(result.error)
