"""Right uses of the tour: both strict checkers must accept every line. Never run."""

import sqlite3
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import assert_type

import asyncpg
import msgspec
import psycopg
import pydantic
from django.db.backends.base.base import BaseDatabaseWrapper  # type: ignore[import-untyped]
from sqlalchemy import Connection
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncSession, async_scoped_session
from sqlalchemy.orm import Session, scoped_session

import klokka
from klokka.stores.memory.store import MemoryStore

app = klokka.Klokka(
    "sqlite:///jobs.db",
    concurrency=40,
    queues=[klokka.Queue("critical"), klokka.Queue("email", concurrency=32), "cpu"],
    retry=klokka.exponential(base=timedelta(seconds=10), factor=2, max_attempts=8, jitter=0.2),
    lease=timedelta(seconds=30),
    grace=timedelta(seconds=25),
)
in_memory = klokka.Klokka(MemoryStore())


@app.job("email.welcome", retry=klokka.exponential(max_attempts=8))
async def welcome(user_id: int, locale: str = "en") -> None: ...


@app.job("thumbnail", queue="cpu", timeout=timedelta(minutes=2), executor="process")
def thumbnail(path: str, width: int) -> bool:
    return len(path) > width


@dataclass(frozen=True, slots=True)
class Receipt:
    order_id: int


class Point(msgspec.Struct):
    x: float


class Person(pydantic.BaseModel):
    name: str


def patient(attempt: int, error: BaseException) -> timedelta | None:
    return None if isinstance(error, klokka.WorkerLost) else timedelta(minutes=attempt)


@app.job("feed.fetch", retry=patient)
def fetch(url: str) -> None: ...


policy: klokka.RetryPolicy = patient


@app.on(klokka.Ended)
def ended(event: klokka.Ended) -> None:
    print(event.ran, isinstance(event, klokka.JobEvent))


RECEIPT = klokka.JobType("receipt.send", Receipt, queue="email")
POINT = klokka.JobType("point", Point)
PERSON = klokka.JobType("person", Person)
PLAIN = klokka.JobType("plain", dict[str, int])


class Mailer:
    async def send(self, receipt: Receipt, job: klokka.JobContext) -> klokka.Outcome:
        if job.attempt > 3:
            return klokka.Cancel("address bounces")
        await job.progress(0.5)
        return klokka.Snooze(timedelta(minutes=5))

    def send_sync(self, receipt: Receipt) -> None: ...


app.handle(RECEIPT, Mailer().send, retry=klokka.intervals(timedelta(seconds=1), timedelta(minutes=1)))
app.handle(POINT, lambda point: print(point.x))


def own_policy(attempt: int, error: BaseException) -> timedelta | None:
    return timedelta(seconds=attempt) if isinstance(error, OSError) else None


app.handle(PLAIN, lambda numbers: sum(numbers.values()), retry=own_policy)


@app.recurring("session-cleanup", klokka.every(timedelta(hours=1)))
async def cleanup(depth: int = 3) -> None: ...


@app.recurring("nightly", klokka.daily(at=["02:00", "14:00"]), queue="cpu", executor="process", misfire=klokka.Skip())
def nightly() -> bool:
    return True


app.recurring(
    "daily-digest",
    klokka.cron("0 9 * * 1-5", zone="America/Toronto"),
    welcome.new(user_id=7),
    misfire=klokka.CatchUp(at_most=3),
)
app.recurring(
    "month-end",
    klokka.monthly(klokka.LAST_BUSINESS_DAY, at="18:00", zone="Europe/Oslo"),
    RECEIPT.new(Receipt(7)),
    overlap=False,
)


async def recur() -> None:
    assert_type(await cleanup(), None)
    assert_type(await app.schedules.trigger_now("nightly"), klokka.EnqueueResult)
    assert_type(await app.schedules.resume("nightly", catch_up=True), bool)


@app.on(klokka.DeadLettered)
def page(event: klokka.DeadLettered) -> None:
    print(event.id, event.error)


@app.on(klokka.Enqueued)
async def count(event: klokka.Enqueued) -> None: ...


@app.intercept
async def measure(job: klokka.JobContext, call: Callable[[], Awaitable[klokka.Outcome]]) -> klokka.Outcome:
    return await call()


async def produce(
    connection: psycopg.AsyncConnection[tuple[object, ...]],
    fast: asyncpg.Connection,
    session: AsyncSession,
    core: AsyncConnection,
    scope: async_scoped_session[AsyncSession],
    pool: asyncpg.Pool,
) -> None:
    assert_type(await welcome.enqueue(user_id=7), klokka.EnqueueResult)
    await welcome.enqueue(7, locale="no")
    request = welcome.new(user_id=7).options(delay=timedelta(minutes=10), unique_key="welcome:7")
    assert_type(request, klokka.NewJob)
    await app.enqueue(request)
    await app.enqueue(RECEIPT.new(Receipt(7)).options(run_at=datetime(2030, 1, 1, tzinfo=UTC), queue="slow"))
    await app.enqueue_many([RECEIPT.new(Receipt(i)) for i in range(3)])
    await app.enqueue(request, tx=connection)
    await app.enqueue(request, tx=fast)
    await app.enqueue(request, tx=session)
    await app.enqueue(request, tx=core)
    await app.enqueue(request, tx=scope)
    async with pool.acquire() as pooled:
        await app.enqueue_many([request], tx=pooled)
    await app.enqueue(POINT.new(Point(1.0)))
    await app.enqueue(PERSON.new(Person(name="x")))
    assert_type(await app.cancel(klokka.JobId(1)), bool)
    assert_type(await app.wait((await welcome.enqueue(1)).id, timeout=timedelta(seconds=1)), klokka.JobDetails)


def produce_sync(
    path: Path,
    session: Session,
    scope: scoped_session[Session],
    core: Connection,
    connection: psycopg.Connection[tuple[object, ...]],
    django: BaseDatabaseWrapper,
) -> None:
    assert_type(welcome.enqueue_sync(user_id=7), klokka.EnqueueResult)
    with sqlite3.connect(path) as own:
        app.enqueue_sync(welcome.new(7), tx=own)
    app.enqueue_sync(welcome.new(7), tx=session)
    app.enqueue_sync(welcome.new(7), tx=scope)
    app.enqueue_sync(welcome.new(7), tx=core)
    app.enqueue_sync(welcome.new(7), tx=django)
    app.enqueue_many_sync([welcome.new(7)], tx=connection)
    assert_type(thumbnail("a.png", 64), bool)
    assert_type(app.requeue_sync(klokka.JobId(1)), bool)


async def called_as_itself() -> None:
    assert_type(await welcome(7), None)


async def work() -> None:
    async with app.worker(queues=["critical"], concurrency=4), in_memory.worker():
        pass
    async with app:
        pass
