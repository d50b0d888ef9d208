"""A job in the user's own transaction is there if and only if that commits, on every sort of sqlite3 connection."""

import sqlite3
import threading
from collections.abc import Generator
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from klokka.core.clocks import ManualClock
from klokka.core.records import NewJob
from klokka.errors import Busy, InvalidInput, SchemaMismatch, WrongTransaction
from klokka.stores.sqlite import SqliteStore

WORK = NewJob(kind="work", payload="{}")
KEYED = NewJob(kind="work", payload="{}", unique_key="one")


@pytest.fixture
def plain(store: SqliteStore) -> Generator[sqlite3.Connection]:
    with closing(sqlite3.connect(store.path, timeout=0.05)) as connection:
        yield connection


async def count(store: SqliteStore) -> int:
    return sum((await store.counts_by_status()).values())


async def test_a_connection_opens_its_transaction_with_the_insert(
    store: SqliteStore, plain: sqlite3.Connection
) -> None:
    store.enqueue_in_sync(plain, [WORK])

    assert plain.in_transaction
    assert await count(store) == 0
    plain.commit()
    assert await count(store) == 1


@pytest.mark.parametrize("level", ["DEFERRED", "IMMEDIATE", "EXCLUSIVE"])
async def test_every_level_of_isolation_is_taken(store: SqliteStore, level: Any) -> None:
    with closing(sqlite3.connect(store.path, isolation_level=level)) as connection:
        store.enqueue_in_sync(connection, [WORK])
        connection.rollback()
        store.enqueue_in_sync(connection, [WORK])
        connection.commit()

    assert await count(store) == 1


@pytest.mark.parametrize("begin", ["begin", "begin immediate"])
async def test_an_autocommit_connection_is_taken_within_a_transaction_alone(store: SqliteStore, begin: str) -> None:
    with closing(sqlite3.connect(store.path, isolation_level=None)) as connection:
        with pytest.raises(WrongTransaction, match="Execute BEGIN on it first"):
            store.enqueue_in_sync(connection, [WORK])
        connection.execute(begin)
        store.enqueue_in_sync(connection, [WORK])
        connection.execute("commit")

    assert await count(store) == 1


async def test_a_savepoint_of_the_caller_takes_the_job_with_it(store: SqliteStore, plain: sqlite3.Connection) -> None:
    store.enqueue_in_sync(plain, [WORK])
    plain.execute("savepoint mine")
    store.enqueue_in_sync(plain, [WORK, WORK])
    plain.execute("rollback to mine")
    plain.commit()

    assert await count(store) == 1


async def test_a_savepoint_on_an_autocommit_connection_is_a_transaction(store: SqliteStore) -> None:
    with closing(sqlite3.connect(store.path, isolation_level=None)) as connection:
        connection.execute("savepoint mine")
        store.enqueue_in_sync(connection, [WORK])
        assert await count(store) == 0
        connection.execute("release mine")

    assert await count(store) == 1


async def test_a_held_key_gives_its_holder_and_poisons_nothing(store: SqliteStore, plain: sqlite3.Connection) -> None:
    (holder,) = await store.enqueue([KEYED])

    first, second = store.enqueue_in_sync(plain, [KEYED, WORK])
    plain.commit()

    assert (first.id, first.created) == (holder.id, False)
    assert second.created
    assert await count(store) == 2


async def test_a_snapshot_older_than_the_last_write_is_busy_and_leaves_the_transaction_as_it_was(
    store: SqliteStore, plain: sqlite3.Connection
) -> None:
    plain.execute("begin")
    plain.execute("select count(*) from klokka_jobs").fetchone()
    await store.enqueue([KEYED])

    with pytest.raises(Busy) as caught:
        store.enqueue_in_sync(plain, [KEYED])

    assert isinstance(caught.value.__cause__, sqlite3.OperationalError)
    assert plain.in_transaction
    assert plain.execute("select count(*) from klokka_jobs").fetchone() == (0,)


async def test_a_writer_beside_is_waited_for_as_long_as_the_connection_says(
    store: SqliteStore, plain: sqlite3.Connection
) -> None:
    with closing(sqlite3.connect(store.path, isolation_level=None)) as other:
        other.execute("begin immediate")

        with pytest.raises(Busy):
            store.enqueue_in_sync(plain, [WORK])

    plain.rollback()
    store.enqueue_in_sync(plain, [WORK])


async def test_refused_input_opens_no_transaction(store: SqliteStore, plain: sqlite3.Connection) -> None:
    with pytest.raises(InvalidInput):
        store.enqueue_in_sync(plain, [WORK, NewJob(kind="Not a kind", payload="{}")])

    assert not plain.in_transaction


async def test_a_failure_in_the_middle_undoes_the_call_and_not_the_callers_work(
    store: SqliteStore, plain: sqlite3.Connection, clock: ManualClock
) -> None:
    plain.execute("create table orders (id integer)")
    plain.execute("insert into orders values (1)")
    far = NewJob(kind="work", payload="{}", run_at=timedelta(days=365 * 9000))

    with pytest.raises(InvalidInput):
        store.enqueue_in_sync(plain, [WORK, far])
    plain.commit()

    assert await count(store) == 0
    assert plain.execute("select count(*) from orders").fetchone() == (1,)


async def test_what_the_user_made_of_rows_and_texts_does_not_matter(store: SqliteStore, clock: ManualClock) -> None:
    with closing(sqlite3.connect(store.path, detect_types=sqlite3.PARSE_DECLTYPES)) as connection:
        connection.row_factory = lambda cursor, row: {"row": row}
        connection.text_factory = lambda text: text[::-1]
        sqlite3.register_converter("integer", lambda text: f"converted {text!r}")
        try:
            first = store.enqueue_in_sync(connection, [KEYED])
            second = store.enqueue_in_sync(connection, [KEYED])
        finally:
            del sqlite3.converters["INTEGER"]
        connection.commit()

    assert (first[0].id, first[0].created) == (1, True)
    assert (second[0].id, second[0].created) == (1, False)
    details = await store.get_job(first[0].id)
    assert details is not None
    assert details.summary.enqueued_at == clock()


def test_no_handle_needs_to_be_open(path: Path) -> None:
    store = SqliteStore(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(store.migration_sql())

        (result,) = store.enqueue_in_sync(connection, [WORK])

    assert result.created


def test_a_file_without_our_tables_is_told_what_to_do(path: Path) -> None:
    with (
        closing(sqlite3.connect(path)) as connection,
        pytest.raises(SchemaMismatch, match="Open the store once before"),
    ):
        SqliteStore(path).enqueue_in_sync(connection, [WORK])


async def test_a_link_to_the_file_is_the_file(store: SqliteStore, tmp_path: Path) -> None:
    link = tmp_path / "link.db"
    link.symlink_to(store.path)
    with closing(sqlite3.connect(link)) as connection:
        store.enqueue_in_sync(connection, [WORK])
        connection.commit()

    assert await count(store) == 1


@pytest.mark.parametrize("database", ["other.db", ":memory:", ""])
def test_a_connection_to_another_database_is_refused(store: SqliteStore, tmp_path: Path, database: str) -> None:
    elsewhere = str(tmp_path / database) if database.endswith(".db") else database
    with closing(sqlite3.connect(elsewhere)) as connection:
        connection.execute("attach database ? as jobs", (store.path,))

        with pytest.raises(WrongTransaction, match="Connect to the store's file"):
            store.enqueue_in_sync(connection, [WORK])


def test_what_is_no_connection_is_refused_by_its_type(store: SqliteStore) -> None:
    wrong: Any = "connection"

    with pytest.raises(WrongTransaction, match=r"a str; .* sqlite3\.Connection"):
        store.enqueue_in_sync(wrong, [WORK])


def test_a_closed_connection_is_refused(store: SqliteStore, plain: sqlite3.Connection) -> None:
    plain.close()

    with pytest.raises(WrongTransaction, match="closed"):
        store.enqueue_in_sync(plain, [WORK])


def test_a_connection_of_another_thread_is_refused(store: SqliteStore, plain: sqlite3.Connection) -> None:
    raised: list[BaseException] = []

    def enqueue() -> None:
        try:
            store.enqueue_in_sync(plain, [WORK])
        except WrongTransaction as error:
            raised.append(error)

    thread = threading.Thread(target=enqueue)
    thread.start()
    thread.join(10)

    assert "thread" in str(raised[0])
