"""The asynchronous side of SQLAlchemy on both drivers: sessions, scopes, cancellation, and what is refused."""

import asyncio
from typing import Any

import pytest

pytest.importorskip("greenlet", reason="SQLAlchemy's asynchronous side needs the package greenlet")

from sqlalchemy.ext.asyncio import AsyncSession, async_scoped_session, async_sessionmaker

from klokka.errors import WrongTransaction
from klokka.stores.postgres.store import PostgresStore
from tests.stores.postgres.test_transactions_isolation import KEYED, WORK, count, until_it_waits
from tests.support.async_sqlalchemy import async_engine

DRIVERS = pytest.mark.parametrize("driver", ["psycopg", "asyncpg"])


@DRIVERS
async def test_an_idle_session_begins_its_transaction_with_the_insert(
    store: PostgresStore, where: str, driver: str
) -> None:
    async with async_engine(where, driver) as engine, AsyncSession(engine) as session:
        await store.enqueue_in(session, [WORK, KEYED])
        assert await count(store) == 0
        await session.commit()

    assert await count(store) == 2


@DRIVERS
async def test_a_scope_gives_its_session(store: PostgresStore, where: str, driver: str) -> None:
    async with async_engine(where, driver) as engine:
        scope = async_scoped_session(async_sessionmaker(engine), asyncio.current_task)
        async with scope.begin():
            await store.enqueue_in(scope, [WORK])
        await scope.remove()

    assert await count(store) == 1


@DRIVERS
@pytest.mark.parametrize("options", [{"stream_results": True}, {"yield_per": 10}])
async def test_options_of_the_engine_do_not_matter(
    store: PostgresStore, where: str, driver: str, options: dict[str, Any]
) -> None:
    async with async_engine(where, driver, execution_options=options) as engine, engine.begin() as connection:
        await store.enqueue_in(connection, [WORK, KEYED])

    assert await count(store) == 2


@DRIVERS
async def test_cancelled_while_it_waits_it_ends_as_sqlalchemy_ends_it_and_nothing_is_written(
    store: PostgresStore, where: str, driver: str
) -> None:
    patient = PostgresStore(where)
    async with async_engine(where, driver) as engine, AsyncSession(engine) as holder, AsyncSession(engine) as own:
        await store.enqueue_in(holder, [KEYED])
        await store.enqueue_in(own, [WORK])
        waiting = asyncio.ensure_future(patient.enqueue_in(own, [WORK, KEYED]))
        await until_it_waits(where)

        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        await holder.rollback()
        await own.rollback()
        assert (await store.enqueue_in(own, [KEYED]))[0].created
        await own.commit()

    assert await count(store) == 1


@DRIVERS
async def test_the_sorts_are_not_mixed(store: PostgresStore, where: str, driver: str) -> None:
    async with async_engine(where, driver) as engine, AsyncSession(engine) as session, engine.connect() as connection:
        for tx in (session, connection):
            with pytest.raises(WrongTransaction, match="is asynchronous"):
                store.enqueue_in_sync(tx, [WORK])
        for tx in (session.sync_session, connection.sync_connection):
            with pytest.raises(WrongTransaction, match="is synchronous"):
                await store.enqueue_in(tx, [WORK])
        with pytest.raises(WrongTransaction, match="nothing that makes them"):
            await store.enqueue_in(engine, [WORK])


@DRIVERS
async def test_the_session_within_is_taken_by_the_blocking_verb_within(
    store: PostgresStore, where: str, driver: str
) -> None:
    async with async_engine(where, driver) as engine, AsyncSession(engine) as session:
        await session.connection()
        with pytest.raises(WrongTransaction, match="greenlet"):
            store.enqueue_in_sync(session.sync_session, [WORK])

        await session.run_sync(lambda inner: store.enqueue_in_sync(inner, [WORK]))
        await session.commit()

    assert await count(store) == 1
