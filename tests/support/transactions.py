"""The connections that users have, each sort with a transaction, a savepoint and one that stands alone."""

import uuid
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import AbstractAsyncContextManager, AbstractContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import asyncpg
import psycopg
import sqlalchemy
from psycopg.conninfo import conninfo_to_dict
from sqlalchemy.orm import Session, scoped_session, sessionmaker
from sqlalchemy.pool import NullPool

from klokka.stores.postgres.store import PostgresStore
from klokka.tck.subject import Factory, Subject
from tests.support.postgres import fresh_database


@dataclass(frozen=True, slots=True)
class Sort:
    """A sort of blocking connection; each hand is given the database or the transaction."""

    transaction: Callable[[str], AbstractContextManager[Any]]
    savepoint: Callable[[Any], AbstractContextManager[object]]
    alone: Callable[[str], AbstractContextManager[Any]]
    """On which an insert would commit by itself."""


@dataclass(frozen=True, slots=True)
class AsyncSort:
    """A sort of asynchronous connection."""

    transaction: Callable[[str], AbstractAsyncContextManager[Any]]
    savepoint: Callable[[Any], AbstractAsyncContextManager[object]]
    alone: Callable[[str], AbstractAsyncContextManager[Any]]


def factory(sort: Sort | AsyncSort, bound: timedelta) -> Factory:
    """Fresh databases in which callers have connections of this sort, and nobody is waited for longer than `bound`."""

    @asynccontextmanager
    async def postgres() -> AsyncGenerator[Subject]:
        with fresh_database() as where:
            store = PostgresStore(where, bound=bound, connections=4)
            if isinstance(sort, Sort):
                yield Subject(
                    store=store,
                    sync_transaction=lambda: sort.transaction(where),
                    sync_savepoint=sort.savepoint,
                    sync_unusable=lambda: sort.alone(where),
                )
            else:
                yield Subject(
                    store=store,
                    transaction=lambda: sort.transaction(where),
                    savepoint=sort.savepoint,
                    unusable=lambda: sort.alone(where),
                )

    return postgres


# psycopg


@contextmanager
def psycopg_transaction(where: str) -> Generator[psycopg.Connection]:
    with psycopg.connect(where) as connection:
        yield connection


@contextmanager
def psycopg_autocommit(where: str) -> Generator[psycopg.Connection]:
    with psycopg.connect(where, autocommit=True) as connection:
        yield connection


@asynccontextmanager
async def psycopg_async_transaction(where: str) -> AsyncGenerator[psycopg.AsyncConnection]:
    async with await psycopg.AsyncConnection.connect(where) as connection:
        yield connection


@asynccontextmanager
async def psycopg_async_autocommit(where: str) -> AsyncGenerator[psycopg.AsyncConnection]:
    async with await psycopg.AsyncConnection.connect(where, autocommit=True) as connection:
        yield connection


@asynccontextmanager
async def psycopg_lock(where: str, job: int) -> AsyncGenerator[None]:
    """Somebody's transaction that holds the row of a job."""
    async with psycopg_async_transaction(where) as somebody:
        await somebody.execute("select from klokka.jobs where id = %s for update", [job])
        yield


# asyncpg


def asyncpg_place(where: str) -> dict[str, Any]:
    """The same database in asyncpg's words."""
    place = conninfo_to_dict(where)
    named = {"host": "host", "port": "port", "user": "user", "password": "password", "dbname": "database"}
    return {theirs: place[ours] for ours, theirs in named.items() if ours in place}


@asynccontextmanager
async def asyncpg_idle(where: str) -> AsyncGenerator[asyncpg.Connection]:
    connection: asyncpg.Connection = await asyncpg.connect(**asyncpg_place(where))
    try:
        yield connection
    finally:
        await connection.close()


@asynccontextmanager
async def asyncpg_transaction(where: str) -> AsyncGenerator[asyncpg.Connection]:
    async with asyncpg_idle(where) as connection, connection.transaction():
        yield connection


@asynccontextmanager
async def asyncpg_pooled_idle(where: str) -> AsyncGenerator[Any]:
    async with (
        asyncpg.create_pool(**asyncpg_place(where), min_size=1, max_size=1) as pool,
        pool.acquire() as connection,
    ):
        yield connection


@asynccontextmanager
async def asyncpg_pooled(where: str) -> AsyncGenerator[Any]:
    async with asyncpg_pooled_idle(where) as connection, connection.transaction():
        yield connection


# SQLAlchemy


@contextmanager
def engine(where: str, **options: Any) -> Generator[sqlalchemy.Engine]:
    """An engine on psycopg."""
    made = sqlalchemy.create_engine(
        "postgresql+psycopg://", creator=lambda: psycopg.connect(where), poolclass=NullPool, **options
    )
    try:
        yield made
    finally:
        made.dispose()


@contextmanager
def core(where: str) -> Generator[sqlalchemy.Connection]:
    with engine(where) as made, made.begin() as connection:
        yield connection


@contextmanager
def core_autocommit(where: str) -> Generator[sqlalchemy.Connection]:
    with engine(where, isolation_level="AUTOCOMMIT") as made, made.connect() as connection:
        yield connection


@contextmanager
def session(where: str) -> Generator[Session]:
    with engine(where) as made, Session(made, close_resets_only=False) as own, own.begin():
        yield own


@contextmanager
def session_autocommit(where: str) -> Generator[Session]:
    with engine(where, isolation_level="AUTOCOMMIT") as made, Session(made) as own:
        yield own


@contextmanager
def scope(where: str) -> Generator[scoped_session[Session]]:
    with engine(where) as made:
        scoped = scoped_session(sessionmaker(made, close_resets_only=False))
        with scoped.begin():
            yield scoped
        scoped.close()


# Django


@contextmanager
def django_connection(where: str) -> Generator[Any]:
    """What `django.db.connection` is, for a database of its own."""
    import django
    from django.conf import settings
    from django.db import connections
    from django.utils.connection import ConnectionProxy

    if not settings.configured:
        settings.configure(USE_TZ=True, LOGGING_CONFIG=None)
        django.setup()
    place = conninfo_to_dict(where)
    alias = f"test_{uuid.uuid4().hex}"
    named = {"host": "HOST", "port": "PORT", "user": "USER", "password": "PASSWORD", "dbname": "NAME"}
    wanted = {theirs: place[ours] for ours, theirs in named.items() if ours in place}
    connections.settings[alias] = connections.configure_settings(
        {"default": {}, alias: {"ENGINE": "django.db.backends.postgresql", **wanted}}
    )[alias]
    try:
        yield ConnectionProxy(connections, alias)
    finally:
        connections[alias].close()
        del connections[alias], connections.settings[alias]


@contextmanager
def django_atomic(where: str) -> Generator[Any]:
    from django.db.transaction import atomic

    with django_connection(where) as connection, atomic(using=connection.alias):
        yield connection


def django_savepoint(connection: Any) -> AbstractContextManager[object]:
    from django.db.transaction import atomic

    inner: AbstractContextManager[object] = atomic(using=connection.alias)
    return inner


SORTS: dict[str, Sort | AsyncSort] = {
    "psycopg": Sort(psycopg_transaction, psycopg.Connection.transaction, psycopg_autocommit),
    "psycopg-async": AsyncSort(
        psycopg_async_transaction, psycopg.AsyncConnection.transaction, psycopg_async_autocommit
    ),
    "asyncpg": AsyncSort(asyncpg_transaction, asyncpg.Connection.transaction, asyncpg_idle),
    "asyncpg-pool": AsyncSort(asyncpg_pooled, lambda tx: tx.transaction(), asyncpg_pooled_idle),
    "sqlalchemy-connection": Sort(core, sqlalchemy.Connection.begin_nested, core_autocommit),
    "sqlalchemy-session": Sort(session, Session.begin_nested, session_autocommit),
    "sqlalchemy-scoped-session": Sort(scope, lambda tx: tx.begin_nested(), session_autocommit),
    "django": Sort(django_atomic, django_savepoint, django_connection),
}
