"""What the conformance kit is run on when the command line names it: our own stores by URL, any store by its factory."""

import sqlite3
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, closing, contextmanager
from datetime import timedelta
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

from klokka.core.clocks import ManualClock
from klokka.errors import UnknownStore
from klokka.stores.memory.store import MemoryStore
from klokka.stores.memory.transactions import MemoryTransaction
from klokka.stores.open import open_store
from klokka.stores.sqlite.durability import SURVIVES, Durability
from klokka.stores.sqlite.store import SqliteStore
from klokka.tck.named import factory_named
from klokka.tck.subject import Factory, Subject


def subjects(target: str) -> Factory:
    """The factory behind `module:factory`, or one of fresh stores such as a URL names.

    A SQLite URL names where new files are made, one for each check; its own file is neither made nor touched. One of
    PostgreSQL names a database in which each check gets a schema of its own.

    Raises:
        UnknownStore: the URL is wrong, or does not say how fresh data is made.
        Unfit: the name leads to no factory.
    """
    if "/" not in target and target != "memory:":
        return factory_named(target)
    store = open_store(target)
    match store:
        case MemoryStore():
            return memory_subjects()
        case SqliteStore():
            durability = next(known for known, survives in SURVIVES.items() if survives is store.traits.survives)
            folder = Path(store.path).parent
            return sqlite_subjects(folder=folder, durability=durability, bound=store.traits.bound)
        case _ if store.traits.name == "postgresql":
            from klokka.cli.tck_postgres import postgres_subjects  # its driver is an extra

            return postgres_subjects(cast(Any, store))
        case _:
            raise UnknownStore(
                f"a URL of {store.traits.name} does not say how each check gets a fresh database. "
                f"Give a factory as module:factory; docs/write-a-store.md shows one."
            )


def memory_subjects(
    kind: Callable[..., MemoryStore] = MemoryStore,
    *,
    bound: timedelta = timedelta(seconds=1),
    patience: timedelta = timedelta(seconds=10),
) -> Factory:
    """Fresh memory stores with a manual clock, and all that the kit can be given for them."""

    @asynccontextmanager
    async def memory() -> AsyncGenerator[Subject]:
        clock = ManualClock()
        store = kind(clock=clock, bound=bound)

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


def sqlite_subjects(
    kind: Callable[..., SqliteStore] = SqliteStore,
    *,
    folder: Path | None = None,
    durability: Durability = Durability.MACHINE,
    bound: timedelta = timedelta(seconds=1),
    patience: timedelta = timedelta(seconds=10),
) -> Factory:
    """Fresh SQLite files with a manual clock, made in a folder of their own inside of `folder`."""

    @asynccontextmanager
    async def sqlite() -> AsyncGenerator[Subject]:
        clock = ManualClock()
        with TemporaryDirectory(prefix="klokka-tck-", dir=folder) as directory:
            path = Path(directory) / "jobs.db"

            @contextmanager
            def transaction() -> Generator[sqlite3.Connection]:
                with closing(sqlite3.connect(path, timeout=bound.total_seconds())) as connection, connection:
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
                store=kind(path, clock=clock, durability=durability, busy_bound=bound),
                advance=clock.advance,
                sync_transaction=transaction,
                sync_savepoint=savepoint,
                sync_unusable=commits_by_itself,
                reopen=partial(kind, path, durability=Durability.PROCESS, busy_bound=bound),
                patience=patience,
            )

    return sqlite
