"""Whatever a user has made of a connection of asyncpg, a job goes in with its transaction."""

import asyncio
import json
from collections.abc import AsyncGenerator
from decimal import Decimal

import asyncpg
import pytest

from klokka.core.records import NewJob
from klokka.errors import Busy, StoreUnavailable, WrongTransaction
from klokka.stores.postgres.store import PostgresStore
from tests.stores.postgres.test_transactions_isolation import KEYED, WORK, count, until_it_waits
from tests.support.postgres import end_connections
from tests.support.transactions import asyncpg_idle, asyncpg_place


@pytest.fixture
async def own(where: str) -> AsyncGenerator[asyncpg.Connection]:
    async with asyncpg_idle(where) as connection:
        yield connection


async def test_it_is_taken_within_a_transaction_alone(store: PostgresStore, own: asyncpg.Connection) -> None:
    with pytest.raises(WrongTransaction, match=r"async with connection\.transaction\(\)"):
        await store.enqueue_in(own, [WORK])

    async with own.transaction():
        await store.enqueue_in(own, [WORK])
    async with own.transaction(isolation="serializable"):
        await store.enqueue_in(own, [KEYED])
    assert await count(store) == 2


async def test_codecs_and_classes_of_records_do_not_matter(store: PostgresStore, where: str) -> None:
    class Row(asyncpg.Record):
        def __getitem__(self, key: object) -> object:
            raise AssertionError

    connection = await asyncpg.connect(**asyncpg_place(where), record_class=Row)
    try:
        for name in ("json", "jsonb"):
            await connection.set_type_codec(name, schema="pg_catalog", encoder=json.dumps, decoder=json.loads)
        await connection.set_type_codec("int8", schema="pg_catalog", encoder=str, decoder=Decimal, format="text")
        async with connection.transaction():
            (result,) = await store.enqueue_in(connection, [NewJob(kind="work", payload='{"é": 1}', unique_key="é")])
    finally:
        await connection.close()

    assert type(result.id) is int
    details = await store.get_job(result.id)
    assert details is not None
    assert details.payload == '{"é": 1}'


async def test_without_a_cache_of_statements_none_is_prepared_by_name(store: PostgresStore, where: str) -> None:
    connection = await asyncpg.connect(**asyncpg_place(where), statement_cache_size=0)
    try:
        async with connection.transaction():
            await store.enqueue_in(connection, [WORK, KEYED])
            await store.enqueue_in(connection, [WORK, KEYED])
            prepared = await connection.fetchval("select count(*) from pg_prepared_statements where name <> ''")
    finally:
        await connection.close()

    assert prepared == 0
    assert await count(store) == 3


async def test_a_failed_transaction_is_refused(store: PostgresStore, own: asyncpg.Connection) -> None:
    transaction = own.transaction()
    await transaction.start()
    with pytest.raises(asyncpg.PostgresSyntaxError):
        await own.execute("no statement")

    with pytest.raises(WrongTransaction, match="has failed"):
        await store.enqueue_in(own, [WORK])

    await transaction.rollback()


async def test_a_closed_connection_is_refused(store: PostgresStore, own: asyncpg.Connection) -> None:
    await own.close()

    with pytest.raises(WrongTransaction, match="closed"):
        await store.enqueue_in(own, [WORK])


async def test_a_connection_that_went_back_to_its_pool_is_refused(store: PostgresStore, where: str) -> None:
    async with asyncpg.create_pool(**asyncpg_place(where), min_size=1, max_size=1) as pool:
        async with pool.acquire() as connection:
            pass

        with pytest.raises(WrongTransaction, match="released back to the pool"):
            await store.enqueue_in(connection, [WORK])


async def test_a_connection_at_work_is_refused(store: PostgresStore, own: asyncpg.Connection) -> None:
    async with own.transaction():
        at_work = asyncio.ensure_future(own.execute("select pg_sleep(0.1)"))
        await asyncio.sleep(0)

        with pytest.raises(WrongTransaction, match="another operation is in progress"):
            await store.enqueue_in(own, [WORK])

        await at_work


async def test_a_connection_that_breaks_says_that_the_transaction_is_lost(
    store: PostgresStore, own: asyncpg.Connection, where: str
) -> None:
    transaction = own.transaction()
    await transaction.start()
    await store.enqueue_in(own, [WORK])
    end_connections(where)

    with pytest.raises((StoreUnavailable, WrongTransaction)):
        await store.enqueue_in(own, [WORK])

    assert await count(store) == 0


async def test_the_connections_own_bound_is_busy_and_the_transaction_goes_on(store: PostgresStore, where: str) -> None:
    async with asyncpg_idle(where) as holder, holder.transaction():
        await store.enqueue_in(holder, [KEYED])
        connection = await asyncpg.connect(**asyncpg_place(where), command_timeout=0.5)
        try:
            async with connection.transaction():
                with pytest.raises(Busy, match="within the time that it allows"):
                    await store.enqueue_in(connection, [KEYED])
                (result,) = await store.enqueue_in(connection, [WORK])
        finally:
            await connection.close()

    assert result.created
    assert await count(store) == 2


async def test_cancelled_while_it_waits_it_leaves_the_transaction_as_it_was(
    where: str, own: asyncpg.Connection, store: PostgresStore
) -> None:
    patient = PostgresStore(where)
    async with asyncpg_idle(where) as holder, holder.transaction(), own.transaction():
        await store.enqueue_in(holder, [KEYED])
        await store.enqueue_in(own, [WORK])
        waiting = asyncio.ensure_future(patient.enqueue_in(own, [WORK, KEYED]))
        await until_it_waits(where)

        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

        assert await own.fetchval("show lock_timeout") == "0"
        assert (await store.enqueue_in(own, [WORK]))[0].created

    assert await count(store) == 3
