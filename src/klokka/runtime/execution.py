"""Running one claimed job: decode, context, timeout, interceptors, handler, in this order and no other."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from typing import Any

from klokka.core.durations import spell
from klokka.core.outcomes import Outcome, check_ran
from klokka.core.records import ClaimedJob
from klokka.errors import JobTimeout, MisuseError
from klokka.runtime.context import CURRENT, JobContext
from klokka.runtime.handlers import Executor, Handler, Interceptor
from klokka.runtime.processes import ProcessPool
from klokka.runtime.supervision import asked_to_end
from klokka.runtime.threads import Threads
from klokka.runtime.verdict import Result


class Execution:
    """Runs claimed jobs, each in the caller's task, in a fixed order:

    1. the payload is decoded (in the child for a process), 2. `current_job()` is set, 3. the timeout begins,
    4. interceptors, the first registered outermost, 5. the handler on its loop, thread or process.

    So the timeout covers the interceptors, and they see the job, its context variables and what the handler raises.
    """

    def __init__(
        self,
        *,
        threads: Threads,
        processes: ProcessPool | None = None,
        interceptors: Sequence[Interceptor] = (),
    ) -> None:
        self._threads = threads
        self._processes = processes
        self._interceptors = tuple(interceptors)
        self._loop = asyncio.get_running_loop()

    async def run(self, job: ClaimedJob, handler: Handler, context: JobContext) -> Result:
        """How the run ended, whatever the handler raises: SystemExit, or a CancelledError of its own, is a failure.

        Raises:
            CancelledError: the caller's task was cancelled, and the handler has ended. A handler that swallows its
                cancellation and returns gives an ordinary result.
        """
        outcome: Outcome = None
        failure: BaseException | None = None
        token = CURRENT.set(context)
        began = time.monotonic()
        try:
            payload = None if handler.executor is Executor.PROCESS else handler.decode(job.payload)
            if handler.timeout is None and not self._interceptors and handler.executor is Executor.LOOP:
                run: Callable[[object, JobContext], Any] = handler.run
                outcome = await run(payload, context)
            else:
                outcome = await self._wrapped(job, handler, context, payload)
            if outcome is not None:
                check_ran(outcome)
        except asyncio.CancelledError as error:
            if asked_to_end():
                raise
            failure = error
        except GeneratorExit as error:
            if self._loop.is_closed():  # this coroutine is being thrown away
                raise
            failure = error
        except BaseException as error:  # a handler's SystemExit fails its job and not the worker
            failure = error
        finally:
            if not self._loop.is_closed():
                CURRENT.reset(token)
        return Result(outcome=outcome, error=failure, ran=time.monotonic() - began)

    async def _wrapped(self, job: ClaimedJob, handler: Handler, context: JobContext, payload: object) -> Outcome:
        timeout = handler.timeout
        if timeout is None:
            return await self._chain(job, handler, context, payload)
        limit = _Limit(timeout, context)
        try:
            outcome = await self._chain(job, handler, context, payload)
        except BaseException as error:
            if limit.ended_it():
                raise _timed_out(handler, timeout) from error
            raise
        if limit.ended_it():  # it swallowed the cancellation, or ran on in a thread
            raise _timed_out(handler, timeout)
        return outcome

    async def _chain(self, job: ClaimedJob, handler: Handler, context: JobContext, payload: object) -> Outcome:
        run: Callable[[object, JobContext], Any] = handler.run

        async def innermost() -> Any:
            match handler.executor:
                case Executor.LOOP:
                    return await run(payload, context)
                case Executor.THREAD:
                    return await self._threads.run(lambda: run(payload, context), context)
                case Executor.PROCESS:
                    return await self._in_process(job, handler, context)

        call: Callable[[], Awaitable[Outcome]] = innermost
        for interceptor in reversed(self._interceptors):
            call = _around(interceptor, context, call)
        return await call()

    async def _in_process(self, job: ClaimedJob, handler: Handler, context: JobContext) -> Outcome:
        if self._processes is None:
            raise MisuseError(f"{handler.kind} runs in a process, and this worker was given no pool of processes.")
        return await self._processes.run(handler, job, context.progress)


class _Limit:
    """Cancels the running task when a time is over, and tells the handler so: `asyncio.timeout` cannot do the latter."""

    def __init__(self, time: timedelta, context: JobContext) -> None:
        self._context = context
        self._task = asyncio.current_task()
        self._before = 0 if self._task is None else self._task.cancelling()
        self._expired = False
        self._timer = asyncio.get_running_loop().call_later(time.total_seconds(), self._expire)

    def ended_it(self) -> bool:
        """Whether the time was over, and nobody else cancelled the task; called once, at the end."""
        self._timer.cancel()
        return self._expired and (self._task is None or self._task.uncancel() <= self._before)

    def _expire(self) -> None:
        self._expired = True
        self._context.cancel()
        if self._task is not None:
            self._task.cancel()


def _around(
    interceptor: Interceptor, context: JobContext, call: Callable[[], Awaitable[Outcome]]
) -> Callable[[], Awaitable[Outcome]]:
    return lambda: interceptor(context, call)


def _timed_out(handler: Handler, timeout: timedelta) -> JobTimeout:
    return JobTimeout(f"{handler.kind} ran longer than its timeout of {spell(timeout)}.")
