"""Wrong uses: both strict checkers must refuse every line that ends in `# error`, and no other. Never run."""

import sqlite3
from dataclasses import dataclass
from datetime import timedelta

import asyncpg
import psycopg
from sqlalchemy import Connection, Engine
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, AsyncSession
from sqlalchemy.orm import Session

import klokka

app = klokka.Klokka("sqlite:///jobs.db")


@dataclass(frozen=True, slots=True)
class Welcome:
    user_id: int


@dataclass(frozen=True, slots=True)
class Receipt:
    order_id: int


RECEIPT = klokka.JobType("receipt.send", Receipt)


@app.job("email.welcome")
async def welcome(user_id: int, locale: str = "en") -> None: ...


async def for_receipts(receipt: Receipt) -> None: ...


async def for_welcomes(payload: Welcome) -> None: ...


async def with_text(receipt: Receipt, job: str) -> None: ...


async def wrong_async(
    session: Session,
    core: Connection,
    engine: AsyncEngine,
    connection: psycopg.Connection[tuple[object, ...]],
    own: sqlite3.Connection,
) -> None:
    await welcome.enqueue(user="7")  # error
    await welcome.enqueue("7")  # error
    await welcome.enqueue()  # error
    await welcome.enqueue(7, "en", 3)  # error
    welcome.new(user_id=7, delay=timedelta(1))  # error
    RECEIPT.new(Welcome(7))  # error
    RECEIPT.new(order_id=7)  # error
    await app.enqueue(RECEIPT)  # error
    await app.enqueue(Receipt(7))  # error
    await app.enqueue_many(RECEIPT.new(Receipt(7)))  # error
    await app.enqueue(RECEIPT.new(Receipt(7)), tx=session)  # error
    await app.enqueue(RECEIPT.new(Receipt(7)), tx=connection)  # error
    await app.enqueue(RECEIPT.new(Receipt(7)), tx=own)  # error
    await app.enqueue(RECEIPT.new(Receipt(7)), tx=core)  # error
    await app.enqueue(RECEIPT.new(Receipt(7)), tx=engine)  # error
    await app.enqueue_many([RECEIPT.new(Receipt(7))], tx=core)  # error
    await app.enqueue(RECEIPT.new(Receipt(7)), delay=timedelta(1))  # error
    RECEIPT.new(Receipt(7)).options(delay=60)  # error
    RECEIPT.new(Receipt(7)).options(run_at="tomorrow")  # error
    RECEIPT.new(Receipt(7)).kind = "other"  # error
    await app.cancel("7")  # error
    await app.wait(klokka.JobId(7), timeout=5)  # error


def wrong_sync(
    session: AsyncSession,
    core: AsyncConnection,
    engine: Engine,
    connection: psycopg.AsyncConnection[tuple[object, ...]],
    fast: asyncpg.Connection,
) -> None:
    app.enqueue_sync(RECEIPT.new(Receipt(7)), tx=session)  # error
    app.enqueue_sync(RECEIPT.new(Receipt(7)), tx=connection)  # error
    app.enqueue_sync(RECEIPT.new(Receipt(7)), tx=core)  # error
    app.enqueue_sync(RECEIPT.new(Receipt(7)), tx=engine)  # error
    app.enqueue_sync(RECEIPT.new(Receipt(7)), tx=fast)  # error
    app.enqueue_many_sync([RECEIPT.new(Receipt(7))], tx=core)  # error
    welcome.enqueue_sync(user="7")  # error


app.handle(RECEIPT, for_welcomes)  # error
app.handle(RECEIPT, with_text)  # error
app.handle("receipt.send", for_receipts)  # error
klokka.Snooze(60)  # error
klokka.exponential(base=10)  # error
klokka.Queue("cpu", concurrency="2")  # error
klokka.JobType("x")  # error


@app.on(klokka.DeadLettered)  # error
def page(event: klokka.Succeeded) -> None: ...


app.recurring("a", "0 9 * * *", RECEIPT.new(Receipt(7)))  # error
app.recurring("a", klokka.every(60), RECEIPT.new(Receipt(7)))  # error
app.recurring("a", klokka.daily(at="09:00"), Receipt(7))  # error
app.recurring("a", klokka.daily(at="09:00"), RECEIPT.new(Receipt(7)), misfire="skip")  # error
app.recurring("a", klokka.daily(at="09:00"), RECEIPT.new(Receipt(7)), queue="slow")  # error
app.recurring("a", klokka.daily(at="09:00"))(welcome)  # error


@app.job("x", executor="threads")  # error
def typo() -> None: ...
