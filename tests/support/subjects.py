"""Factories of the stores that the conformance kit runs against."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import timedelta
from functools import partial
from itertools import cycle

import psycopg

from klokka.cli.tck_subjects import memory_subjects, sqlite_subjects
from klokka.stores.postgres.store import PostgresStore
from klokka.tck.subject import Factory, Subject
from tests.support.postgres import emptied_database, end_connections, spoil_defaults
from tests.support.proxy import Proxy, proxy_to
from tests.support.transactions import (
    psycopg_async_autocommit,
    psycopg_async_transaction,
    psycopg_autocommit,
    psycopg_lock,
    psycopg_transaction,
)

BOUND = timedelta(milliseconds=300)
"""How long a store in these tests waits for somebody else, so that waiting it out takes no time worth naming."""
DISK_BOUND = timedelta(seconds=1)
"""The same where a machine that is busy with other things can hold up a disk or a session for a moment."""


@asynccontextmanager
async def postgres_factory() -> AsyncGenerator[Subject]:
    """An empty database with the schema in it, by the server's own clock."""
    with emptied_database() as where:

        async def cut() -> None:
            end_connections(where)

        async def hostile() -> None:
            spoil_defaults(where)

        yield Subject(
            store=PostgresStore(where, bound=DISK_BOUND, connections=4),
            transaction=lambda: psycopg_async_transaction(where),
            savepoint=psycopg.AsyncConnection.transaction,
            sync_transaction=lambda: psycopg_transaction(where),
            sync_savepoint=psycopg.Connection.transaction,
            unusable=lambda: psycopg_async_autocommit(where),
            sync_unusable=lambda: psycopg_autocommit(where),
            lock=partial(psycopg_lock, where),
            cut=cut,
            hostile=hostile,
            reopen=partial(PostgresStore, where),
            server_clock=True,
        )


async def _resets(proxy: Proxy) -> None:
    proxy.cut()


async def _falls_silent(proxy: Proxy) -> None:
    """What was asked has been done, or not, and no answer comes before the end."""
    proxy.swallow()
    await asyncio.sleep(0.05)
    proxy.cut()


async def _is_slow(proxy: Proxy) -> None:
    """Whole conversations are under way when the end comes."""
    proxy.delay(0.01)
    await asyncio.sleep(0.05)
    proxy.cut()
    proxy.delay(0)


_ENDS = cycle((_resets, _falls_silent, _is_slow))


@asynccontextmanager
async def rough_postgres_factory() -> AsyncGenerator[Subject]:
    """An empty database at the end of a wire that breaks in each of the ways in which wires break, in turn."""
    with emptied_database() as where:
        async with proxy_to(where) as proxy:
            yield Subject(
                store=PostgresStore(proxy.where, bound=DISK_BOUND, listen_check=DISK_BOUND, connections=4),
                cut=lambda: next(_ENDS)(proxy),
                reopen=partial(PostgresStore, where),
                server_clock=True,
            )


memory_factory = partial(memory_subjects, bound=BOUND)
sqlite_factory = partial(sqlite_subjects, bound=DISK_BOUND)

FACTORIES: dict[str, Factory] = {
    "memory": memory_factory(),
    "sqlite": sqlite_factory(),
    "postgres": postgres_factory,
}
