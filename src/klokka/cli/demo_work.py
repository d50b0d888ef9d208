"""The demo's producer: a few thousand jobs of several kinds, in batches and one by one."""

import asyncio
from collections.abc import Iterator
from datetime import timedelta

from klokka.cli import demo_app as kinds
from klokka.core.ids import JobId
from klokka.core.records import NewJob
from klokka.spi.store import JobStore

BATCH = 100
UNIQUE = "demo-welcome"


def requests(count: int) -> Iterator[NewJob]:
    """Ordinary work, mixed, the same at every run."""
    for number in range(count):
        match number % 20:
            case 0:
                yield kinds.report.new(number)
            case 1 | 2 | 3:
                yield kinds.webhook.new(number)
            case 4 | 5 | 6 | 7:
                yield kinds.thumbnail.new(number)
            case _:
                yield kinds.email.new(number)


def special() -> list[NewJob]:
    """The ones that go wrong or wait: a delayed job, a broken one, one that kills its workers, and one key twice."""
    return [
        kinds.email.new(0).options(delay=timedelta(seconds=3)),
        kinds.broken.new(4711),
        kinds.poison.new(0).options(delay=timedelta(seconds=1)),
        kinds.email.new(1).options(unique_key=UNIQUE, delay=timedelta(seconds=2)),
        kinds.email.new(2).options(unique_key=UNIQUE),
    ]


async def produce(store: JobStore, count: int, acknowledged: set[JobId]) -> None:
    """Enqueues all of it; an id is in `acknowledged` once the store has answered for it."""
    for job in special():
        acknowledged.update(result.id for result in await store.enqueue([job]))
    pending = list(requests(count - len(acknowledged)))
    for start in range(0, len(pending), BATCH):
        acknowledged.update(result.id for result in await store.enqueue(pending[start : start + BATCH]))
        await asyncio.sleep(0.02)
