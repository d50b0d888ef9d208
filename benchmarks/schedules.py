"""How long it takes until all of many schedules that are due in the same second have fired.

    python -m benchmarks.schedules [--count 1000] [--rounds 5] [--store URL]

A worker of its own ticks, on a thread of its own. The time is by the store's clock, from the tick to the moment at which
the last of its runs was stored. The store is a SQLite file in a fresh folder unless another is named.
"""

import argparse
import asyncio
import statistics
import tempfile
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from klokka.core.ids import ScheduleId
from klokka.core.records import JobQuery, NewJob
from klokka.runtime.bus import EventBus
from klokka.runtime.recurrence import Recurrence
from klokka.runtime.settings import WorkerSettings
from klokka.runtime.worker import Worker
from klokka.schedules.interval import every
from klokka.stores.open import open_store


async def measure(url: str, count: int, rounds: int) -> list[timedelta]:
    """The time of each round."""
    store: Any = open_store(url)
    await store.open()
    schedule = every(timedelta(seconds=5))
    recurrences = [
        Recurrence(id=ScheduleId(f"schedule-{number}"), schedule=schedule, request=NewJob(kind="work", payload="{}"))
        for number in range(count)
    ]
    took: list[timedelta] = []
    async with Worker(store, {}, WorkerSettings(), events=EventBus(), schedules=recurrences):
        first = schedule.next(await store.now() + timedelta(seconds=1))
        while len(took) < rounds:
            assert first is not None
            tick = first + len(took) * timedelta(seconds=5)
            took.append(await finished(store, tick, count) - tick)
    await store.close()
    return took


async def finished(store: Any, tick: datetime, count: int) -> datetime:
    """When the last run of `tick` was stored."""
    await asyncio.sleep((tick - await store.now()).total_seconds() + 2.5)
    runs = [job for job in await store.list_jobs(JobQuery(kind="work", limit=2 * count)) if job.run_at == tick]
    if len(runs) != count:
        raise SystemExit(f"{len(runs)} of {count} schedules had fired after 2.5 s")
    return max(job.enqueued_at for job in runs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--store")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        url = given.store or f"sqlite:///{Path(folder) / 'schedules.db'}"
        took = asyncio.run(measure(url, given.count, given.rounds))
    for time in took:
        print(f"{given.count} schedules: the last had fired after {time.total_seconds():.3f} s")
    print(f"median {statistics.median(time.total_seconds() for time in took):.3f} s")


if __name__ == "__main__":
    main()
