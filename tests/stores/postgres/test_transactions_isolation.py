"""What enqueueing does to the caller's transaction, and what others' transactions do to it, at every level."""

import asyncio
from collections.abc import AsyncGenerator, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from psycopg import IsolationLevel

from klokka.core.records import EnqueueResult, NewJob
from klokka.errors import Busy, InvalidTime, SchemaMismatch, StoreReadOnly, StoreUnavailable
from klokka.stores.postgres.store import PostgresStore
from tests.support.postgres import connection as bystander, end_connections

WORK = NewJob(kind="work", payload="{}")
KEYED = NewJob(kind="work", payload="{}", unique_key="one")
OTHER = NewJob(kind="work", payload="{}", unique_key="two")
FAR = NewJob(kind="work", payload="{}", run_at=timedelta(days=365 * 9000))
LEVELS = pytest.mark.parametrize("level", IsolationLevel, ids=lambda level: level.name.lower())
SNAPSHOTS = pytest.mark.parametrize("level", [IsolationLevel.REPEATABLE_READ, IsolationLevel.SERIALIZABLE])


@pytest.fixture
def own(where: str) -> Generator[psycopg.Connection]:
    with psycopg.connect(where) as connection:
        connection.execute("create table orders (id integer)")
        connection.commit()
        yield connection


@pytest.fixture
def other(where: str) -> Generator[psycopg.Connection]:
    with psycopg.connect(where) as connection:
        yield connection


@pytest.fixture
async def thread() -> AsyncGenerator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1) as pool:
        yield pool


async def count(store: PostgresStore) -> int:
    return sum((await store.counts_by_status()).values())


def one(connection: psycopg.Connection, query: Any) -> Any:
    row = connection.execute(query).fetchone()
    assert row is not None
    return row[0]


async def until_it_waits(where: str) -> None:
    """Returns when a connection to the database waits for a lock."""
    waiting = "select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()"
    with bystander(where) as watch:
        async with asyncio.timeout(10):
            while not watch.execute(waiting).fetchone():  # noqa: ASYNC110 - nothing tells of it
                await asyncio.sleep(0.005)


@LEVELS
async def test_every_level_of_isolation_is_taken(
    store: PostgresStore, own: psycopg.Connection, level: IsolationLevel
) -> None:
    (holder,) = await store.enqueue([KEYED])
    own.isolation_level = level

    results = store.enqueue_in_sync(own, [KEYED, OTHER, WORK])
    own.commit()

    assert results[0] == EnqueueResult(id=holder.id, created=False)
    assert [result.created for result in results] == [False, True, True]
    assert await count(store) == 3


@SNAPSHOTS
async def test_a_holder_newer_than_the_snapshot_is_busy_and_the_transaction_goes_on(
    store: PostgresStore, own: psycopg.Connection, level: IsolationLevel
) -> None:
    own.isolation_level = level
    own.execute("insert into orders values (1)")
    own.execute("select count(*) from orders")
    (holder,) = await store.enqueue([KEYED])

    with pytest.raises(Busy, match="newer than what this transaction sees") as caught:
        store.enqueue_in_sync(own, [OTHER, KEYED])

    assert caught.value.retry_is_safe
    assert store.enqueue_in_sync(own, [WORK])[0].created
    assert one(own, "select count(*) from orders") == 1
    own.rollback()
    assert store.enqueue_in_sync(own, [KEYED]) == [EnqueueResult(id=holder.id, created=False)]


async def test_a_holder_that_commits_while_it_is_waited_for_is_found(
    store: PostgresStore, own: psycopg.Connection, other: psycopg.Connection, where: str, thread: ThreadPoolExecutor
) -> None:
    (holder,) = store.enqueue_in_sync(other, [KEYED])

    waiting = thread.submit(store.enqueue_in_sync, own, [OTHER, KEYED])
    await until_it_waits(where)
    other.commit()
    results = waiting.result(10)
    own.commit()

    assert [result.created for result in results] == [True, False]
    assert results[1].id == holder.id
    assert await count(store) == 2


async def test_a_key_of_a_transaction_that_rolls_back_is_taken_by_who_waits(
    store: PostgresStore, own: psycopg.Connection, other: psycopg.Connection, where: str, thread: ThreadPoolExecutor
) -> None:
    store.enqueue_in_sync(other, [KEYED])

    waiting = thread.submit(store.enqueue_in_sync, own, [KEYED])
    await until_it_waits(where)
    other.rollback()

    assert waiting.result(10)[0].created


@LEVELS
def test_waiting_for_a_key_ends_and_the_transaction_goes_on(
    store: PostgresStore, own: psycopg.Connection, other: psycopg.Connection, level: IsolationLevel
) -> None:
    own.isolation_level = level
    own.execute("insert into orders values (1)")
    store.enqueue_in_sync(other, [KEYED])

    with pytest.raises(Busy) as caught:
        store.enqueue_in_sync(own, [OTHER, KEYED])

    assert isinstance(caught.value.__cause__, psycopg.errors.LockNotAvailable)
    assert store.enqueue_in_sync(own, [OTHER])[0].created
    own.commit()
    assert one(own, "select count(*) from orders") == 1


async def test_the_victim_of_a_deadlock_goes_on_and_so_does_the_other(
    where: str, own: psycopg.Connection, other: psycopg.Connection, thread: ThreadPoolExecutor
) -> None:
    store = PostgresStore(where, bound=timedelta(seconds=10))
    own.execute("set deadlock_timeout = '20ms'")
    other.execute("set deadlock_timeout = '1min'")
    store.enqueue_in_sync(own, [KEYED])
    store.enqueue_in_sync(other, [OTHER])
    waiting = thread.submit(store.enqueue_in_sync, other, [KEYED])
    await until_it_waits(where)

    with pytest.raises(Busy) as caught:
        store.enqueue_in_sync(own, [OTHER])

    assert isinstance(caught.value.__cause__, psycopg.errors.DeadlockDetected)
    assert store.enqueue_in_sync(own, [WORK])[0].created
    own.rollback()
    assert waiting.result(10)[0].created


@pytest.mark.parametrize("theirs", ["0", "100ms", "1min"])
@pytest.mark.parametrize("local", ["", "local "])
@pytest.mark.parametrize("fails", [True, False], ids=["refused", "stored"])
def test_the_callers_bound_on_locks_is_as_it_was(
    store: PostgresStore,
    own: psycopg.Connection,
    other: psycopg.Connection,
    theirs: str,
    local: str,
    fails: bool,
) -> None:
    own.execute(f"set {local}lock_timeout = '{theirs}'".encode())
    if fails:
        store.enqueue_in_sync(other, [KEYED])
        with pytest.raises(Busy):
            store.enqueue_in_sync(own, [KEYED])
    else:
        store.enqueue_in_sync(own, [KEYED])

    assert one(own, "show lock_timeout") == theirs
    own.commit()
    assert one(own, "show lock_timeout") == ("0" if local else theirs)


def test_a_shorter_bound_of_the_caller_is_kept(where: str, own: psycopg.Connection, other: psycopg.Connection) -> None:
    store = PostgresStore(where, bound=timedelta(minutes=5))
    store.enqueue_in_sync(other, [KEYED])
    own.execute("set lock_timeout = '20ms'")

    with pytest.raises(Busy):
        store.enqueue_in_sync(own, [KEYED])


async def test_what_the_server_refuses_is_undone_alone(store: PostgresStore, own: psycopg.Connection) -> None:
    own.execute("insert into orders values (1)")
    store.enqueue_in_sync(own, [WORK])

    with pytest.raises(InvalidTime):
        store.enqueue_in_sync(own, [WORK, FAR])
    own.commit()

    assert one(own, "select count(*) from orders") == 1
    assert await count(store) == 1


@pytest.mark.parametrize("job", [WORK, KEYED], ids=["plain", "keyed"])
@pytest.mark.parametrize("missing", ["drop schema klokka cascade", "drop table klokka.jobs cascade"])
def test_a_database_without_our_schema_is_told_what_to_do(
    store: PostgresStore, own: psycopg.Connection, where: str, missing: Any, job: NewJob
) -> None:
    with bystander(where) as administrator:
        administrator.execute(missing)
    own.execute("insert into orders values (1)")

    with pytest.raises(SchemaMismatch, match="Run `klokka migrate`, or connect tx to the store's database"):
        store.enqueue_in_sync(own, [job])

    assert one(own, "select count(*) from orders") == 1


def test_a_read_only_transaction_says_so(store: PostgresStore, own: psycopg.Connection) -> None:
    own.read_only = True

    with pytest.raises(StoreReadOnly):
        store.enqueue_in_sync(own, [WORK])

    assert one(own, "select count(*) from orders") == 0


async def test_a_connection_that_breaks_takes_the_job_with_it(
    store: PostgresStore, own: psycopg.Connection, where: str
) -> None:
    store.enqueue_in_sync(own, [WORK])
    end_connections(where)

    with pytest.raises(StoreUnavailable):
        store.enqueue_in_sync(own, [KEYED])

    own.close()
    assert await count(store) == 0


async def test_who_waits_for_work_hears_of_the_commit_and_of_no_rollback(
    store: PostgresStore, own: psycopg.Connection
) -> None:
    async with aclosing(store.wakeups()) as hints, asyncio.timeout(10):
        await anext(hints)  # the subscription is in place
        store.enqueue_in_sync(own, [WORK, KEYED])
        own.rollback()
        hint = asyncio.ensure_future(anext(hints))
        store.enqueue_in_sync(own, [WORK])
        await store.now()  # whatever was sent has arrived by now, and nothing was
        assert not hint.done()
        own.commit()

        await hint


def test_no_more_is_asked_of_the_server_than_needed(store: PostgresStore, own: psycopg.Connection) -> None:
    asked: list[str] = []

    class Listening(psycopg.RawCursor[Any]):
        def execute(self, query: Any, *args: Any, **kwargs: Any) -> Any:
            asked.append(bytes(query).decode().split()[0])
            return super().execute(query, *args, **kwargs)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("klokka.stores.postgres.transactions.of_psycopg.RawCursor", Listening)
        store.enqueue_in_sync(own, [])
        store.enqueue_in_sync(own, [WORK] * 100)
        assert asked == ["savepoint", "with", "release"]
        store.enqueue_in_sync(own, [KEYED] * 100)

    assert asked[3:] == ["savepoint", "with", "with", "select", "release"]
