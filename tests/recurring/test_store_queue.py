"""A Klokka store behind the leased ticker: what travels, and what is refused at once."""

from collections.abc import AsyncGenerator
from datetime import UTC, datetime
from typing import Any

import pytest

from klokka.core.clocks import ManualClock
from klokka.core.headers import max_attempts_of
from klokka.core.records import JobQuery
from klokka.errors import InvalidInput
from klokka.recurring import LeasedTicker, Request, StoreQueue
from klokka.stores.memory.store import MemoryStore

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


@pytest.fixture
async def store() -> AsyncGenerator[MemoryStore]:
    store = MemoryStore(clock=ManualClock(NOON))
    await store.open()
    yield store
    await store.close()


async def test_a_tick_becomes_a_job_with_its_limit_of_retries_its_queue_and_its_instant(store: MemoryStore) -> None:
    ticker = LeasedTicker(StoreQueue(store, priorities={1: "critical"}), store, store, clock=lambda: NOON)
    ticker.schedule_recurring("report", "0 * * * *", args={"audience": "all"}, priority=1, max_retries=2)
    await ticker.tick(NOON)

    assert await ticker.tick(NOON.replace(hour=13)) == ["report"]

    (summary,) = await store.list_jobs(JobQuery())
    job = await store.get_job(summary.id)
    assert job is not None
    assert (summary.kind, summary.queue, job.payload) == ("report", "critical", '{"audience":"all"}')
    assert (job.scheduled_for, max_attempts_of(job.headers)) == (NOON.replace(hour=13), 3)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"priority": 3}, "priority 3 of report means no queue here \\(known: 1\\)"),
        ({"priority": 1, "queue": "slow"}, "means queue 'critical', and 'slow' is named"),
        ({"priority": [1]}, "priority of report cannot be"),
        ({"max_retries": -1}, "max_retries of report must be 0 or more"),
        ({"max_retries": "3"}, "max_retries of report cannot be '3'"),
        ({"max_retries": 1.5}, "max_retries of report cannot be 1.5"),
        ({"queue": ""}, "queue is empty"),
        ({"queue": "Slow"}, "for example 'slow'"),
        ({"args": {1, 2}}, "payload"),
        ({"args": float("nan")}, "payload"),
    ],
)
async def test_what_a_store_cannot_honour_is_refused_when_it_is_scheduled(
    store: MemoryStore, asked: dict[str, Any], message: str
) -> None:
    ticker = LeasedTicker(StoreQueue(store, priorities={1: "critical"}), store, store)

    with pytest.raises(InvalidInput, match=message):
        ticker.schedule_recurring("report", "0 * * * *", **asked)


def test_without_options_a_job_goes_to_the_default_queue_with_the_limit_of_its_kind(store: MemoryStore) -> None:
    StoreQueue(store).admit(Request(kind="report", args=None))
