"""Factories of the stores that the conformance kit runs against."""

import sqlite3
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, closing, contextmanager
from datetime import timedelta
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from klokka.core.clocks import ManualClock
from klokka.stores.memory.store import MemoryStore
from klokka.stores.memory.transactions import MemoryTransaction
from klokka.stores.postgres.store import PostgresStore
from klokka.stores.sqlite.durability import Durability
from klokka.stores.sqlite.store import SqliteStore
from klokka.tck.subject import Factory, Subject
from tests.support.postgres import end_connections, fresh_database, spoil_defaults

BOUND = timedelta(milliseconds=300)
"""How long a store in these tests waits for somebody else, so that waiting it out takes no time worth naming."""


def memory_factory(
    kind: Callable[..., MemoryStore] = MemoryStore, *, patience: timedelta = timedelta(seconds=10)
) -> Factory:
    """Fresh memory stores with a manual clock, of a subclass where a test says so."""

    @asynccontextmanager
    async def memory() -> AsyncGenerator[Subject]:
        clock = ManualClock()
        store = kind(clock=clock, bound=BOUND)

        @asynccontextmanager
        async def transaction() -> AsyncGenerator[MemoryTransaction]:
            with store.begin() as tx:
                yield tx

        @asynccontextmanager
        async def savepoint(tx: MemoryTransaction) -> AsyncGenerator[None]:
            with tx.savepoint():
                yield

        @contextmanager
        def sync_savepoint(tx: MemoryTransaction) -> Generator[None]:
            with tx.savepoint():
                yield

        @contextmanager
        def sync_failed() -> Generator[MemoryTransaction]:
            tx = store.begin()
            tx.fail()
            yield tx
            tx.rollback()

        @asynccontextmanager
        async def failed() -> AsyncGenerator[MemoryTransaction]:
            with sync_failed() as tx:
                yield tx

        yield Subject(
            store=store,
            advance=clock.advance,
            transaction=transaction,
            savepoint=savepoint,
            sync_transaction=store.begin,
            sync_savepoint=sync_savepoint,
            unusable=failed,
            sync_unusable=sync_failed,
            patience=patience,
        )

    return memory


@asynccontextmanager
async def sqlite_factory() -> AsyncGenerator[Subject]:
    """A fresh SQLite file with a manual clock."""
    clock = ManualClock()
    with TemporaryDirectory() as directory:
        path = Path(directory) / "jobs.db"

        @contextmanager
        def transaction() -> Generator[sqlite3.Connection]:
            with closing(sqlite3.connect(path, timeout=BOUND.total_seconds())) as connection, connection:
                yield connection

        @contextmanager
        def savepoint(connection: sqlite3.Connection) -> Generator[None]:
            connection.execute("savepoint of_the_caller")
            try:
                yield
            except BaseException:
                connection.execute("rollback to of_the_caller")
                raise
            finally:
                connection.execute("release of_the_caller")

        @contextmanager
        def commits_by_itself() -> Generator[sqlite3.Connection]:
            with closing(sqlite3.connect(path, isolation_level=None)) as connection:
                yield connection

        yield Subject(
            store=SqliteStore(path, clock=clock, busy_bound=BOUND),
            advance=clock.advance,
            sync_transaction=transaction,
            sync_savepoint=savepoint,
            sync_unusable=commits_by_itself,
            reopen=partial(SqliteStore, path, durability=Durability.PROCESS),
        )


@asynccontextmanager
async def postgres_factory() -> AsyncGenerator[Subject]:
    """A fresh database with the schema in it, by the server's own clock."""
    with fresh_database() as where:

        async def cut() -> None:
            end_connections(where)

        async def hostile() -> None:
            spoil_defaults(where)

        yield Subject(
            store=PostgresStore(where, bound=BOUND, connections=4),
            cut=cut,
            hostile=hostile,
            reopen=partial(PostgresStore, where),
        )


FACTORIES: dict[str, Factory] = {
    "memory": memory_factory(),
    "sqlite": sqlite_factory,
    "postgres": postgres_factory,
}
