"""A worker for tests: handlers written in a line, short times, and bounded waits for what the store shows."""

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

from klokka.core.ids import JobId
from klokka.core.policies import Intervals, RetryPolicy
from klokka.core.queues import Queue
from klokka.core.records import JobDetails, NewJob
from klokka.core.states import JobStatus
from klokka.runtime.bus import EventBus
from klokka.runtime.context import JobContext
from klokka.runtime.handlers import Executor, Handler, Interceptor
from klokka.runtime.settings import WorkerSettings
from klokka.runtime.worker import Worker

LONG = 20.0
"""Seconds after which a test has failed, whatever it waits for."""


def handler(
    run: Callable[[Any, JobContext], Any],
    *,
    kind: str = "a",
    executor: Executor = Executor.LOOP,
    retry: RetryPolicy | None = None,
    timeout: timedelta | None = None,
    max_lapses: int = 3,
) -> Handler:
    """A handler of JSON payloads that tries once unless told otherwise."""
    return Handler(
        kind=kind,
        decode=json.loads,
        run=run,
        executor=executor,
        retry=retry or Intervals(()),
        timeout=timeout,
        max_lapses=max_lapses,
    )


def settings(**changes: Any) -> WorkerSettings:
    """Settings that wait for nothing longer than a test may."""
    defaults: dict[str, Any] = {
        "concurrency": 4,
        "lease": timedelta(seconds=30),
        "grace": timedelta(seconds=10),
        "hard_stop": timedelta(seconds=5),
        "poll": timedelta(seconds=5),
    }
    return WorkerSettings(**{**defaults, **changes})


@asynccontextmanager
async def working(
    store: Any,
    *handlers: Handler,
    bus: EventBus | None = None,
    interceptors: Sequence[Interceptor] = (),
    **changes: Any,
) -> AsyncGenerator[Worker]:
    """A running worker over `store` for the length of the block."""
    worker = Worker(
        store,
        {each.kind: each for each in handlers},
        settings(**changes),
        events=bus or EventBus(),
        interceptors=interceptors,
    )
    async with asyncio.timeout(LONG), worker:
        yield worker


async def enqueue(store: Any, *payloads: Any, kind: str = "a", **more: Any) -> list[JobId]:
    """Stores a job for each payload and gives the ids."""
    jobs = [NewJob(kind=kind, payload=json.dumps(payload), **more) for payload in payloads]
    return [result.id for result in await store.enqueue(jobs)]


async def status(store: Any, id: JobId, *any_of: JobStatus) -> JobDetails:
    """The job once it is in one of these states."""
    details: list[JobDetails] = []

    async def reached() -> bool:
        found = await store.get_job(id)
        assert found is not None
        details[:] = [found]
        return found.summary.status in any_of

    await until(reached, f"job {id} to be {any_of}")
    return details[0]


async def until(condition: Callable[[], Awaitable[bool] | bool], what: str) -> None:
    """Returns when `condition` holds; fails after `LONG` seconds."""
    try:
        async with asyncio.timeout(LONG):
            while True:
                holds = condition()
                if holds if isinstance(holds, bool) else await holds:
                    return
                await asyncio.sleep(0.005)
    except TimeoutError:
        raise AssertionError(f"waited {LONG} s in vain for {what}") from None


def queues(*names: Queue | str) -> tuple[Queue, ...]:
    """Queues in drain order."""
    return tuple(Queue(name) if isinstance(name, str) else name for name in names)
