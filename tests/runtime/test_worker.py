"""A worker as a whole, over the memory store."""

import threading
from collections.abc import AsyncGenerator
from contextvars import ContextVar
from datetime import timedelta
from typing import Any

import pytest

from klokka.core import events
from klokka.core.outcomes import Cancel, Outcome, Snooze
from klokka.core.policies import Intervals
from klokka.core.states import JobStatus
from klokka.runtime.bus import EventBus
from klokka.runtime.context import JobContext, current_job
from klokka.runtime.handlers import Executor
from klokka.stores.memory.store import MemoryStore
from tests.support.working import enqueue, handler, status, until, working


@pytest.fixture
async def store() -> AsyncGenerator[MemoryStore]:
    store = MemoryStore()
    await store.open()
    yield store
    await store.close()


async def test_runs_what_was_enqueued_before_and_while_it_works(store: MemoryStore) -> None:
    ran: list[Any] = []

    async def run(payload: Any, job: JobContext) -> None:
        ran.append(payload)

    [before] = await enqueue(store, {"n": 1})
    async with working(store, handler(run)):
        await status(store, before, JobStatus.SUCCEEDED)
        [later] = await enqueue(store, {"n": 2})
        await status(store, later, JobStatus.SUCCEEDED)

    assert ran == [{"n": 1}, {"n": 2}]


async def test_what_a_handler_sets_in_its_context_is_not_seen_by_the_job_that_follows_it(store: MemoryStore) -> None:
    said: ContextVar[str] = ContextVar("said", default="nothing")
    heard: list[str] = []

    async def run(payload: Any, job: JobContext) -> None:
        heard.append(said.get())
        said.set(payload)

    jobs = await enqueue(store, "one", "two", "three")
    async with working(store, handler(run), concurrency=1):
        await status(store, jobs[-1], JobStatus.SUCCEEDED)

    assert heard == ["nothing"] * 3


async def test_sync_handlers_run_on_threads_that_know_their_job(store: MemoryStore) -> None:
    seen: list[tuple[bool, int]] = []

    def run(payload: Any, job: JobContext) -> None:
        seen.append((threading.current_thread() is threading.main_thread(), current_job().id))

    [job_id] = await enqueue(store, None)
    async with working(store, handler(run, executor=Executor.THREAD)):
        await status(store, job_id, JobStatus.SUCCEEDED)

    assert seen == [(False, job_id)]


async def test_a_failure_is_kept_and_tried_again_as_the_policy_says(store: MemoryStore) -> None:
    async def run(payload: Any, job: JobContext) -> None:
        if job.attempt < 3:
            raise LookupError("not yet")

    [job_id] = await enqueue(store, None)
    async with working(store, handler(run, retry=Intervals((timedelta(0), timedelta(0))))):
        details = await status(store, job_id, JobStatus.SUCCEEDED)

    assert details.summary.attempt == 3
    assert details.last_error is not None
    assert (details.last_error.type, details.last_error.message) == ("LookupError", "not yet")


async def test_outcomes_are_values_and_no_failures(store: MemoryStore) -> None:
    async def run(payload: Any, job: JobContext) -> Outcome:
        return Snooze(timedelta(hours=1)) if payload == "later" else Cancel("no such address")

    [later, never] = await enqueue(store, "later", "never")
    async with working(store, handler(run)):
        snoozed = await status(store, later, JobStatus.SCHEDULED)
        cancelled = await status(store, never, JobStatus.CANCELLED)

    assert snoozed.summary.attempt == 0
    assert cancelled.last_error is not None
    assert (cancelled.last_error.type, cancelled.last_error.message) == ("Cancel", "no such address")


async def test_what_happened_is_told_once_it_is_stored(store: MemoryStore) -> None:
    bus = EventBus()
    heard: list[events.JobEvent] = []
    bus.on(events.JobEvent, heard.append)

    async def run(payload: Any, job: JobContext) -> None:
        if payload == "bad":
            raise ValueError(payload)

    await enqueue(store, "good", "bad")
    async with working(store, handler(run), bus=bus):
        await until(lambda: len(heard) == 4, "four events")

    assert sorted(type(event).__name__ for event in heard) == ["DeadLettered", "Started", "Started", "Succeeded"]
