"""Enqueueing under a key: once, released where nothing happened, in one transaction where that is possible."""

import asyncio
from collections.abc import AsyncGenerator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from klokka.core.clocks import ManualClock
from klokka.core.records import NewJob
from klokka.errors import UniqueConflict, UnknownOutcome
from klokka.recurring import Request, StoreQueue, enqueue_once
from klokka.stores.memory.store import MemoryStore
from klokka.stores.sqlite.store import SqliteStore
from tests.recurring.queues import ForeignQueue

JOB = Request(kind="welcome", args={"user_id": 7})


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture(params=["memory", "sqlite"])
async def store(request: pytest.FixtureRequest, clock: ManualClock, tmp_path: Path) -> AsyncGenerator[Any]:
    made: Any = MemoryStore(clock=clock) if request.param == "memory" else SqliteStore(tmp_path / "k.db", clock=clock)
    await made.open()
    yield made
    await made.close()


async def test_a_duplicate_of_the_same_kind_and_key_is_none_until_the_ttl_is_over(
    store: Any, clock: ManualClock
) -> None:
    queue = ForeignQueue()

    assert await enqueue_once(queue, store, JOB, "7") == "message-1"
    assert await enqueue_once(queue, store, JOB, "7") is None
    assert await enqueue_once(queue, store, Request(kind="goodbye", args=None), "7") == "message-2"
    clock.advance(days=7)
    assert await enqueue_once(queue, store, JOB, "7") == "message-3"


async def test_of_many_callers_at_once_one_enqueues(store: Any) -> None:
    queue = ForeignQueue()

    answers = await asyncio.gather(*(enqueue_once(queue, store, JOB, "7") for _ in range(20)))

    assert sorted(map(str, answers)) == ["None"] * 19 + ["message-1"]


async def test_a_failed_enqueue_releases_its_key(store: Any) -> None:
    queue = ForeignQueue()
    queue.failures = [ConnectionError("the broker is down")]

    with pytest.raises(ConnectionError):
        await enqueue_once(queue, store, JOB, "7")

    assert await enqueue_once(queue, store, JOB, "7") == "message-1"


@pytest.mark.parametrize("failure", [UnknownOutcome("the connection broke"), asyncio.CancelledError()])
async def test_an_enqueue_that_may_have_happened_keeps_its_key(store: Any, failure: BaseException) -> None:
    queue = ForeignQueue()
    queue.failures = [failure]

    with pytest.raises(type(failure)):
        await enqueue_once(queue, store, JOB, "7")

    assert await enqueue_once(queue, store, JOB, "7") is None


@pytest.mark.parametrize("together", [True, False], ids=["one store", "two stores"])
async def test_a_held_unique_key_is_refused_and_a_retry_can_succeed(store: Any, together: bool) -> None:
    keys: Any = store
    if not together:
        keys = MemoryStore()
        await keys.open()
    queue = StoreQueue(store)
    job = NewJob(kind="welcome", payload="{}", unique_key="user-7")
    (holder,) = await store.enqueue([job])

    with pytest.raises(UniqueConflict) as conflict:
        await enqueue_once(queue, keys, job, "7")
    assert conflict.value.holder == holder.id
    await store.cancel(holder.id)

    assert await enqueue_once(queue, keys, job, "7") is not None
    assert await enqueue_once(queue, keys, job, "7", ttl=timedelta(days=1)) is None


async def test_where_key_and_job_live_in_one_store_the_key_is_never_claimed_alone(
    store: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(*arguments: Any) -> None:
        raise AssertionError("claimed apart from its job")

    monkeypatch.setattr(store, "claim_key", refuse)

    id_ = await enqueue_once(StoreQueue(store), store, JOB, "7")

    job = await store.get_job(id_)
    assert (job.payload, await enqueue_once(StoreQueue(store), store, JOB, "7")) == ('{"user_id":7}', None)
