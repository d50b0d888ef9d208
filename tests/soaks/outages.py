"""Work goes on through outages: `python -m tests.soaks.outages [NAME…] [--seconds 60]`.

Two workers and a producer share a PostgreSQL database while its sessions are killed, its server restarts, its network is cut,
falls silent and slows down, its connections are used up, and its standby takes over. Afterwards every job that was acknowledged
has succeeded once, by an attempt that had run to its end, and both workers still work.
"""

import argparse
import asyncio
import random
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

import psycopg

from klokka.core.policies import Exponential
from klokka.core.records import NewJob
from klokka.errors import StoreError
from klokka.runtime.bus import EventBus
from klokka.runtime.context import JobContext
from klokka.runtime.worker import Worker
from klokka.stores.postgres.store import PostgresStore
from klokka.testing.postgres_server import PostgresServer
from tests.support.postgres import connection, end_connections, fresh_database, fresh_role
from tests.support.proxy import proxy_to
from tests.support.replication import replicated
from tests.support.working import handler, settings

PATIENCE: Final = 60.0
BOUND: Final = timedelta(seconds=1)
LIMIT: Final = 16
"""Connections that are enough for both workers and the producer."""

AUDIT: Final = """
create table klokka.audit (id bigint, attempt integer);
create function klokka.note() returns trigger language plpgsql as
$$ begin insert into klokka.audit values (new.id, new.attempt); return null; end $$;
create trigger audit after update on klokka.jobs for each row
when (new.status = 'succeeded' and old.status <> 'succeeded') execute function klokka.note();
grant all on schema klokka to public; grant all on all tables in schema klokka to public;
grant all on all sequences in schema klokka to public;
"""
"""A witness in the database itself, which notes each success at its commit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """A database with something that goes wrong with it. `watched` is a way to it that does not."""

    where: str
    watched: str
    happens: Callable[[], Awaitable[object]]


@dataclass(slots=True)
class Books:
    """What was seen from outside of the database."""

    acknowledged: set[int] = field(default_factory=set)
    finished: set[tuple[int, int]] = field(default_factory=set)
    runs: list[int] = field(default_factory=lambda: [0, 0])


@asynccontextmanager
async def sessions_killed() -> AsyncGenerator[Trouble]:
    """An administrator ends every session, again and again."""
    with fresh_database() as where:

        async def happens() -> None:
            await asyncio.sleep(random.uniform(0.02, 0.2))
            await asyncio.to_thread(end_connections, where)

        yield Trouble(where=where, watched=where, happens=happens)


@asynccontextmanager
async def server_restarted() -> AsyncGenerator[Trouble]:
    """The server crashes and comes back."""
    with PostgresServer.start(durable=True) as server:

        async def happens() -> None:
            await asyncio.sleep(0.5)
            await asyncio.to_thread(server.restart)

        yield Trouble(where=server.url(), watched=server.url(), happens=happens)


@asynccontextmanager
async def network_cut() -> AsyncGenerator[Trouble]:
    """Connections break, none can be made for a while, words arrive late, and later not at all for a moment."""
    with fresh_database() as where:
        async with proxy_to(where) as proxy:

            async def happens() -> None:
                await asyncio.sleep(random.uniform(0.05, 0.3))
                match random.randrange(4):
                    case 0:
                        proxy.cut()
                    case 1:
                        proxy.cut(refuse=True)
                        await asyncio.sleep(random.uniform(0.1, 2.5))
                        proxy.mend()
                    case 2:
                        proxy.delay(0.02)
                        await asyncio.sleep(0.2)
                        proxy.delay(0)
                    case _:
                        proxy.silence()
                        await asyncio.sleep(random.uniform(0.1, 1.0))
                        proxy.cut()  # what came meanwhile may or may not have been written
                        proxy.speak()

            yield Trouble(where=proxy.where, watched=where, happens=happens)


@asynccontextmanager
async def connections_used_up() -> AsyncGenerator[Trouble]:
    """Somebody takes all connections that the role may have, and gives them back."""
    with fresh_database() as where, fresh_role(where) as (role, as_role):
        with connection(where) as administrator:
            administrator.execute(f"alter role {role} connection limit {LIMIT}".encode())

        async def happens() -> None:
            await asyncio.to_thread(end_connections, where)
            async with AsyncExitStack() as greedy:
                with suppress(psycopg.OperationalError):
                    for _ in range(LIMIT):
                        await greedy.enter_async_context(await psycopg.AsyncConnection.connect(as_role))
                await asyncio.sleep(random.uniform(0.1, 0.5))
            await asyncio.sleep(random.uniform(0.1, 0.5))

        yield Trouble(where=as_role, watched=where, happens=happens)


@asynccontextmanager
async def standby_promoted() -> AsyncGenerator[Trouble]:
    """The primary is lost for good, once, and its synchronous standby is promoted."""
    with replicated() as pair:
        failed_over = False

        async def happens() -> None:
            nonlocal failed_over
            await asyncio.sleep(0.7)
            if not failed_over:
                failed_over = True
                await asyncio.to_thread(pair.fail_over)

        yield Trouble(where=pair.where, watched=pair.where, happens=happens)


TROUBLES: Final[dict[str, Callable[[], AbstractAsyncContextManager[Trouble]]]] = {
    "sessions-killed": sessions_killed,
    "server-restarted": server_restarted,
    "network-cut": network_cut,
    "connections-used-up": connections_used_up,
    "standby-promoted": standby_promoted,
}


async def soak(name: str, seconds: float) -> Books:
    """Goes through one sort of trouble for so long, and gives the books once they are right.

    Raises:
        AssertionError: they are not.
    """
    async with TROUBLES[name]() as trouble, AsyncExitStack() as stack:
        await PostgresStore(trouble.watched).migrate()
        with connection(trouble.watched) as administrator:
            administrator.execute(AUDIT)
        books = Books()
        for number in range(2):
            await stack.enter_async_context(_worker(trouble.where, number, books))
        producer = PostgresStore(trouble.where, bound=BOUND, connections=1, migrate=False)
        producing = asyncio.create_task(_produce(producer, books))
        loop = asyncio.get_running_loop()
        end = loop.time() + seconds
        while loop.time() < end:
            await trouble.happens()
        before = list(books.runs)
        await _until(lambda: all(now > then for now, then in zip(books.runs, before, strict=True)), "both workers work")
        producing.cancel()
        with suppress(asyncio.CancelledError):
            await producing
        await producer.close()
        await _until(lambda: books.acknowledged <= {job for job, _ in books.finished}, "all have run")
        await _until(lambda: not _open(trouble.watched, books), "all have succeeded")
        _judge(_audit(trouble.watched), books)
        return books


@asynccontextmanager
async def _worker(where: str, number: int, books: Books) -> AsyncGenerator[None]:
    async def run(_: Any, job: JobContext) -> None:
        await asyncio.sleep(random.uniform(0, 0.02))
        books.finished.add((job.id, job.attempt))
        books.runs[number] += 1

    store = PostgresStore(where, bound=BOUND, connections=2, migrate=False)
    handlers = {"work": handler(run, kind="work", retry=Exponential(base=timedelta(milliseconds=50)), max_lapses=1000)}
    lease, poll = timedelta(seconds=2), timedelta(seconds=0.2)
    worker = Worker(store, handlers, settings(lease=lease, poll=poll), events=EventBus())
    async with worker:
        yield
    await store.close()


async def _produce(store: PostgresStore, books: Books) -> None:
    """Enqueues until cancelled; what was not acknowledged is not asked for."""
    while True:
        with suppress(StoreError):
            await store.open()
            jobs = [NewJob(kind="work", payload="null")] * random.randint(1, 5)
            books.acknowledged.update(result.id for result in await store.enqueue(jobs))
        await asyncio.sleep(0.01)


async def _until(holds: Callable[[], bool], what: str) -> None:
    try:
        async with asyncio.timeout(PATIENCE):
            while not holds():  # noqa: ASYNC110 - what is looked at is in many places
                await asyncio.sleep(0.05)
    except TimeoutError:
        raise AssertionError(f"waited {PATIENCE:g} s in vain until {what}") from None


def _open(where: str, books: Books) -> set[int]:
    return books.acknowledged - {job for job, _ in _audit(where)}


def _audit(where: str) -> list[tuple[int, int]]:
    with connection(where) as bystander:
        return bystander.execute("select id, attempt from klokka.audit").fetchall()


def _judge(audit: list[tuple[int, int]], books: Books) -> None:
    assert len(audit) == len({job for job, _ in audit}), "a job has succeeded twice"
    assert set(audit) <= books.finished, "a success was written of an attempt that had not ended"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(TROUBLES)}; all without one")
    parser.add_argument("--seconds", type=float, default=60.0)
    given = parser.parse_args()
    for name in given.names or TROUBLES:
        books = asyncio.run(soak(name, given.seconds))
        print(f"{name}: {len(books.acknowledged):,} jobs acknowledged and done, {sum(books.runs):,} runs", flush=True)


if __name__ == "__main__":
    main()
