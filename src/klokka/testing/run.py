"""`klokka.testing.run`: an app in a test."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime

from klokka.app.klokka import Klokka
from klokka.core.clocks import ManualClock
from klokka.testing.jobs import Jobs
from klokka.testing.store import TestingStore

START = datetime(2026, 1, 1, 12, tzinfo=UTC)


@asynccontextmanager
async def run(app: Klokka, *, start: datetime = START) -> AsyncGenerator[Jobs]:
    """The app on an empty memory store and a clock that stands at `start`, for the length of the block.

    Nothing runs by itself: `jobs.drain()` and `jobs.run_one()` run what is due, `jobs.tick()` fires what recurs.
    Handlers, retries, timeouts, interceptors and schedules are the app's own.

    Raises:
        MisuseError: the app is open already.
    """
    clock = ManualClock(start)
    store = TestingStore(clock=clock)
    async with app.on_store(store):
        jobs = Jobs(app, await app.opened(), clock)
        await jobs.tick()  # registers what recurs, so that ticks count from here on
        yield jobs
