"""A job goes in with Django's `transaction.atomic()`, and outside of it is refused."""

import contextlib
from collections.abc import Generator
from typing import Any

import pytest

from klokka.errors import StoreUnavailable, WrongTransaction
from klokka.stores.postgres.store import PostgresStore
from tests.stores.postgres.test_transactions_isolation import FAR, KEYED, WORK, count
from tests.support.postgres import end_connections
from tests.support.transactions import django_connection

# Django refuses its connections where an event loop runs, so the work with them is done by plain functions.


@pytest.fixture
def own(where: str) -> Generator[Any]:
    with django_connection(where) as connection:
        yield connection


@pytest.fixture
def closed(where: str) -> PostgresStore:
    return PostgresStore(where)


def jobs(connection: Any) -> int:
    with connection.cursor() as cursor:
        cursor.execute("select count(*) from klokka.jobs")
        number: int = cursor.fetchone()[0]
        return number


def atomic(connection: Any, **options: Any) -> contextlib.AbstractContextManager[None]:
    from django.db import transaction

    block: contextlib.AbstractContextManager[None] = transaction.atomic(using=connection.alias, **options)
    return block


def test_it_is_taken_within_atomic_alone(closed: PostgresStore, own: Any) -> None:
    with pytest.raises(WrongTransaction, match=r"with transaction\.atomic\(\)"):
        closed.enqueue_in_sync(own, [WORK])
    assert jobs(own) == 0

    with atomic(own):
        closed.enqueue_in_sync(own, [WORK, KEYED])
    assert jobs(own) == 2


def test_the_connection_itself_is_taken_too(closed: PostgresStore, own: Any) -> None:
    from django.db import connections

    with atomic(own):
        closed.enqueue_in_sync(connections[own.alias], [WORK])

    assert jobs(own) == 1


def test_inner_blocks_take_their_jobs_with_them(closed: PostgresStore, own: Any) -> None:
    with atomic(own):
        closed.enqueue_in_sync(own, [WORK])
        with contextlib.suppress(KeyError), atomic(own):
            closed.enqueue_in_sync(own, [WORK, WORK])
            raise KeyError
        with atomic(own, savepoint=False):
            closed.enqueue_in_sync(own, [KEYED])

    assert jobs(own) == 2


def test_what_is_refused_leaves_the_block_as_it_was(closed: PostgresStore, own: Any) -> None:
    from klokka.errors import InvalidTime

    with atomic(own):
        closed.enqueue_in_sync(own, [WORK])
        with pytest.raises(InvalidTime):
            closed.enqueue_in_sync(own, [FAR])
        closed.enqueue_in_sync(own, [KEYED])

    assert jobs(own) == 2


def test_a_block_that_must_roll_back_is_refused(closed: PostgresStore, own: Any) -> None:
    from django.db import transaction

    with atomic(own):
        transaction.set_rollback(True, using=own.alias)

        with pytest.raises(WrongTransaction, match="transaction"):
            closed.enqueue_in_sync(own, [WORK])

    assert jobs(own) == 0


def test_a_connection_without_autocommit_begins_its_transaction(closed: PostgresStore, own: Any) -> None:
    own.set_autocommit(False)

    closed.enqueue_in_sync(own, [WORK])
    own.rollback()

    assert jobs(own) == 0
    own.rollback()
    own.set_autocommit(True)


@pytest.mark.parametrize("schema", ["a:b %s", "$1::text", 'o\'clock "q"', "100%"])
async def test_a_schema_of_any_name_is_found(where: str, schema: str) -> None:
    import asyncio

    store = PostgresStore(where, schema=schema)
    await store.migrate()

    def enqueue() -> bool:
        with django_connection(where) as own, atomic(own):
            return store.enqueue_in_sync(own, [WORK, KEYED])[1].created

    assert await asyncio.to_thread(enqueue)


async def test_in_async_code_it_is_refused(store: PostgresStore, own: Any) -> None:
    with pytest.raises(WrongTransaction, match="async context"):
        store.enqueue_in_sync(own, [WORK])
    with pytest.raises(WrongTransaction, match="synchronous"):
        await store.enqueue_in(own, [WORK])

    assert await count(store) == 0


def test_another_sort_of_database_is_refused(closed: PostgresStore) -> None:
    from django.db.backends.sqlite3.base import DatabaseWrapper

    with pytest.raises(WrongTransaction, match="connection 'files' to sqlite"):
        closed.enqueue_in_sync(DatabaseWrapper({}, "files"), [WORK])


def test_a_connection_that_breaks_says_so(closed: PostgresStore, own: Any, where: str) -> None:
    from django.db import transaction

    with atomic(own):
        closed.enqueue_in_sync(own, [WORK])
        end_connections(where)

        with pytest.raises(StoreUnavailable):
            closed.enqueue_in_sync(own, [WORK])

        transaction.set_rollback(True, using=own.alias)

    own.close()
    assert jobs(own) == 0
