"""Fresh schemas in a database of PostgreSQL that a URL names, for the conformance kit."""

import uuid
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from typing import Any

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

from klokka.core.ids import JobId
from klokka.stores.postgres.store import PostgresStore
from klokka.tck.subject import Factory, Subject

_LOCK = "select from {}.jobs where id = %s for update"
_CUT = "select pg_terminate_backend(pid, 5000) from pg_stat_activity where application_name = %s"


def postgres_subjects(given: PostgresStore) -> Factory:
    """Fresh schemas beside whatever the given store's database holds, dropped after each check.

    The role needs the right to make schemas. Defaults of database and role are left alone.
    """

    @asynccontextmanager
    async def postgres() -> AsyncGenerator[Subject]:
        name = f"klokka_tck_{uuid.uuid4().hex}"
        where = make_conninfo(given.conninfo, application_name=name)
        made = partial(PostgresStore, where, schema=name, bound=given.traits.bound)

        @asynccontextmanager
        async def transaction() -> AsyncGenerator[psycopg.AsyncConnection[Any]]:
            async with await psycopg.AsyncConnection.connect(given.conninfo) as caller:
                yield caller

        @contextmanager
        def sync_transaction() -> Generator[psycopg.Connection[Any]]:
            with psycopg.connect(given.conninfo) as caller:
                yield caller

        @asynccontextmanager
        async def lock(job: JobId) -> AsyncGenerator[None]:
            async with await psycopg.AsyncConnection.connect(given.conninfo) as somebody:
                await somebody.execute(sql.SQL(_LOCK).format(sql.Identifier(name)), [job])
                yield

        async def execute(statement: sql.SQL | sql.Composed, *values: str) -> None:
            async with await psycopg.AsyncConnection.connect(given.conninfo, autocommit=True) as administrator:
                await administrator.execute(statement, values)

        try:
            yield Subject(
                store=made(),
                transaction=transaction,
                savepoint=lambda caller: caller.transaction(),
                sync_transaction=sync_transaction,
                sync_savepoint=lambda caller: caller.transaction(),
                lock=lock,
                cut=lambda: execute(sql.SQL(_CUT), name),
                reopen=made,
            )
        finally:
            await execute(sql.SQL("drop schema if exists {} cascade").format(sql.Identifier(name)))

    return postgres
