"""Whatever a user has made of a connection of psycopg, a job goes in with its transaction."""

from collections.abc import Generator
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import psycopg
import psycopg_pool
import pytest
from psycopg.adapt import Loader
from psycopg.rows import class_row, dict_row, namedtuple_row, scalar_row

from klokka.core.records import NewJob
from klokka.errors import InvalidTime, WrongTransaction
from klokka.stores.postgres.store import PostgresStore
from tests.stores.postgres.test_transactions_isolation import FAR, KEYED, WORK, count
from tests.support.pooler import transaction_pooler


@dataclass
class Order:
    number: int


class AsDecimal(Loader):
    def load(self, data: Any) -> Decimal:
        return Decimal(bytes(data).decode())


@pytest.fixture
def idle(where: str) -> Generator[psycopg.Connection]:
    with psycopg.connect(where) as connection:
        yield connection


@pytest.mark.parametrize("factory", [dict_row, namedtuple_row, scalar_row, class_row(Order)])
@pytest.mark.parametrize("cursor", [psycopg.Cursor, psycopg.ClientCursor, psycopg.RawCursor])
async def test_factories_do_not_matter(store: PostgresStore, where: str, factory: Any, cursor: Any) -> None:
    with psycopg.connect(where, row_factory=factory, cursor_factory=cursor) as connection:
        results = store.enqueue_in_sync(connection, [WORK, KEYED, KEYED])

    assert [result.created for result in results] == [True, True, False]
    assert await count(store) == 2


async def test_how_the_user_reads_numbers_does_not_matter(store: PostgresStore, idle: psycopg.Connection) -> None:
    idle.adapters.register_loader("int8", AsDecimal)

    (result,) = store.enqueue_in_sync(idle, [WORK])

    assert type(result.id) is int


@pytest.mark.parametrize("threshold", [0, 1, None])
async def test_preparing_is_up_to_the_connection(store: PostgresStore, where: str, threshold: int | None) -> None:
    with psycopg.connect(where, prepare_threshold=threshold) as connection:
        for _ in range(3):
            store.enqueue_in_sync(connection, [WORK, KEYED])
            connection.commit()
        prepared = connection.execute("select count(*) > 0 from pg_prepared_statements").fetchone()

    assert await count(store) == 4
    assert prepared == (threshold is not None,)


@pytest.mark.parametrize("encoding", ["latin1", "sql_ascii", "utf8"])
async def test_any_text_goes_through_any_encoding(
    store: PostgresStore, idle: psycopg.Connection, encoding: str
) -> None:
    text = 'é€😀\\"\n'
    job = NewJob(kind="work", payload=text, unique_key=text, headers={text: text})
    idle.execute(f"set client_encoding = '{encoding}'".encode())

    (result,) = store.enqueue_in_sync(idle, [job])
    idle.commit()

    details = await store.get_job(result.id)
    assert details is not None
    assert (details.payload, details.unique_key, dict(details.headers)) == (text, text, {text: text})


@pytest.mark.parametrize("schema", ["a:b %s", "$1::text", 'o\'clock "q"', "été \\: {schema}"])
async def test_a_schema_of_any_name_is_found(where: str, idle: psycopg.Connection, schema: str) -> None:
    store = PostgresStore(where, schema=schema)
    await store.migrate()

    assert store.enqueue_in_sync(idle, [WORK, KEYED])[1].created


async def test_an_idle_connection_begins_its_transaction_with_the_insert(
    store: PostgresStore, idle: psycopg.Connection
) -> None:
    store.enqueue_in_sync(idle, [WORK])

    assert idle.info.transaction_status == psycopg.pq.TransactionStatus.INTRANS
    assert await count(store) == 0
    idle.commit()
    assert await count(store) == 1


async def test_an_autocommit_connection_is_taken_within_a_transaction_alone(store: PostgresStore, where: str) -> None:
    with psycopg.connect(where, autocommit=True) as connection:
        with pytest.raises(WrongTransaction, match=r"with connection\.transaction\(\)"):
            store.enqueue_in_sync(connection, [WORK])
        with connection.transaction():
            store.enqueue_in_sync(connection, [WORK])
        connection.execute("begin")
        store.enqueue_in_sync(connection, [KEYED])
        connection.execute("commit")

    assert await count(store) == 2


def test_a_failed_transaction_is_refused_until_it_is_rolled_back(
    store: PostgresStore, idle: psycopg.Connection
) -> None:
    with pytest.raises(psycopg.errors.SyntaxError):
        idle.execute("no statement")

    with pytest.raises(WrongTransaction, match="has failed"):
        store.enqueue_in_sync(idle, [WORK])

    idle.rollback()
    assert store.enqueue_in_sync(idle, [WORK])[0].created


async def test_a_failed_savepoint_that_was_rolled_back_is_no_failed_transaction(
    store: PostgresStore, idle: psycopg.Connection
) -> None:
    with idle.transaction():
        with suppress(psycopg.errors.SyntaxError), idle.transaction():
            store.enqueue_in_sync(idle, [WORK])
            idle.execute("no statement")
        store.enqueue_in_sync(idle, [KEYED])

    assert await count(store) == 1


def test_a_closed_connection_is_refused(store: PostgresStore, idle: psycopg.Connection) -> None:
    idle.close()

    with pytest.raises(WrongTransaction, match="closed"):
        store.enqueue_in_sync(idle, [WORK])


async def test_a_pipeline_is_taken(store: PostgresStore, idle: psycopg.Connection) -> None:
    with idle.pipeline(), idle.transaction():
        first = store.enqueue_in_sync(idle, [KEYED])
        with pytest.raises(InvalidTime):
            store.enqueue_in_sync(idle, [FAR])
        again = store.enqueue_in_sync(idle, [KEYED, WORK])

    assert [again[0].id, again[0].created, again[1].created] == [first[0].id, False, True]
    assert await count(store) == 2


async def test_a_pipeline_that_commits_by_itself_is_refused(store: PostgresStore, where: str) -> None:
    with (
        psycopg.connect(where, autocommit=True) as connection,
        connection.pipeline(),
        pytest.raises(WrongTransaction),
    ):
        store.enqueue_in_sync(connection, [WORK])

    assert await count(store) == 0


async def test_connections_of_pools_are_taken(store: PostgresStore, where: str) -> None:
    with psycopg_pool.ConnectionPool(where, min_size=1, open=True) as pool, pool.connection() as connection:
        store.enqueue_in_sync(connection, [WORK])
    async with (
        psycopg_pool.AsyncConnectionPool(where, min_size=1, open=False) as async_pool,
        async_pool.connection() as async_connection,
    ):
        await store.enqueue_in(async_connection, [WORK])

    assert await count(store) == 2


async def test_a_subclass_of_the_users_is_taken(store: PostgresStore, where: str) -> None:
    class Own(psycopg.AsyncConnection[Any]):
        pass

    async with await Own.connect(where) as connection, connection.pipeline():
        await store.enqueue_in(connection, [WORK, KEYED])

    assert await count(store) == 2


async def test_a_pooler_may_stand_between(store: PostgresStore, where: str) -> None:
    async with (
        transaction_pooler(where) as pooled,
        await psycopg.AsyncConnection.connect(pooled, prepare_threshold=None) as connection,
    ):
        for _ in range(4):  # each on another session of the server
            await store.enqueue_in(connection, [WORK, KEYED])
            await connection.commit()
            await store.enqueue_in(connection, [WORK])
            await connection.rollback()

    assert await count(store) == 5
