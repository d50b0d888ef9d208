"""SQLAlchemy's asynchronous connections and sessions, which need the package greenlet to be imported at all."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import asyncpg
import psycopg
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, AsyncSession, create_async_engine
from sqlalchemy.pool import NullPool

from tests.support.transactions import AsyncSort, asyncpg_place


@asynccontextmanager
async def async_engine(where: str, driver: str, **options: Any) -> AsyncGenerator[AsyncEngine]:
    """An asynchronous engine on psycopg or asyncpg."""

    async def creator() -> Any:
        if driver == "asyncpg":
            return await asyncpg.connect(**asyncpg_place(where))
        return await psycopg.AsyncConnection.connect(where)

    made = create_async_engine(f"postgresql+{driver}://", async_creator=creator, poolclass=NullPool, **options)
    try:
        yield made
    finally:
        await made.dispose()


def async_core(driver: str) -> AsyncSort:
    @asynccontextmanager
    async def transaction(where: str) -> AsyncGenerator[AsyncConnection]:
        async with async_engine(where, driver) as made, made.begin() as connection:
            yield connection

    @asynccontextmanager
    async def alone(where: str) -> AsyncGenerator[AsyncConnection]:
        async with (
            async_engine(where, driver, isolation_level="AUTOCOMMIT") as made,
            made.connect() as connection,
        ):
            yield connection

    return AsyncSort(transaction, AsyncConnection.begin_nested, alone)


def async_session(driver: str) -> AsyncSort:
    @asynccontextmanager
    async def transaction(where: str) -> AsyncGenerator[AsyncSession]:
        async with (
            async_engine(where, driver) as made,
            AsyncSession(made, close_resets_only=False) as own,
            own.begin(),
        ):
            yield own

    @asynccontextmanager
    async def alone(where: str) -> AsyncGenerator[AsyncSession]:
        async with (
            async_engine(where, driver, isolation_level="AUTOCOMMIT") as made,
            AsyncSession(made) as own,
        ):
            yield own

    return AsyncSort(transaction, AsyncSession.begin_nested, alone)


SORTS: dict[str, AsyncSort] = {
    "sqlalchemy-async-connection-psycopg": async_core("psycopg"),
    "sqlalchemy-async-connection-asyncpg": async_core("asyncpg"),
    "sqlalchemy-async-session-psycopg": async_session("psycopg"),
    "sqlalchemy-async-session-asyncpg": async_session("asyncpg"),
}
