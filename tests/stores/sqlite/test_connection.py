"""What keeps a file from being opened or written is said by type, with what to do next."""

import os
import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from klokka.core.records import NewJob
from klokka.errors import (
    InvalidInput,
    SchemaMismatch,
    StoreError,
    StoreFull,
    StoreUnavailable,
)
from klokka.stores.sqlite import Durability, SqliteStore
from klokka.stores.sqlite.connection import check_library
from tests.support.sqlite_actor import actor, line

WORK = NewJob(kind="work", payload="{}")


def allow(path: Path, mode: int) -> None:
    path.chmod(mode)


def damage(path: Path) -> None:
    """Overwrites all but the first page."""
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * (size - 4096))


async def use(store: SqliteStore) -> None:
    await store.open()
    await store.enqueue([WORK])


@pytest.mark.parametrize("path", ["", ":memory:", "a\0b"])
def test_what_is_no_file_is_refused_at_once(path: str) -> None:
    with pytest.raises(InvalidInput, match="memory:"):
        SqliteStore(path)


def test_a_bound_of_nothing_is_refused(path: Path) -> None:
    with pytest.raises(InvalidInput, match="busy_bound"):
        SqliteStore(path, busy_bound=timedelta(0))


async def test_a_missing_directory_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match=r"no/such does not exist\. Create it"):
        await SqliteStore(tmp_path / "no" / "such" / "jobs.db").open()


async def test_a_directory_is_not_a_file(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="is a directory"):
        await SqliteStore(tmp_path).open()


def test_a_library_without_strict_tables_is_refused_by_version() -> None:
    with pytest.raises(StoreError, match=r"is 3\.36\.1; Klokka needs 3\.37"):
        check_library((3, 36, 1))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become nobody")
@pytest.mark.parametrize(("file_mode", "directory_mode"), [(0o444, 0o755), (0o666, 0o755), (0o444, 0o777)])
async def test_what_may_not_be_written_is_read_only(file_mode: int, directory_mode: int) -> None:
    with TemporaryDirectory() as directory:  # pytest's own directories are closed to others
        path = Path(directory) / "jobs.db"
        await SqliteStore(path).migrate()
        allow(path, file_mode)
        allow(path.parent, directory_mode)

        async with actor(path, "nobody") as process:
            said = await line(process)

    assert said == "StoreReadOnly"


async def test_a_damaged_page_is_said_to_be_damage(path: Path) -> None:
    store = SqliteStore(path)
    await store.open()
    await store.enqueue([NewJob(kind="work", payload="x" * 1000)] * 100)
    await store.close()
    damage(path)

    with pytest.raises(SchemaMismatch, match="damaged") as caught:
        await use(store)

    assert isinstance(caught.value.__cause__, sqlite3.DatabaseError)
    await store.close()


async def test_a_full_disk_leaves_nothing_of_the_call_and_the_store_usable(store: SqliteStore) -> None:
    await store.enqueue([WORK])

    def limit(tx: object, pages: int = 0) -> None:
        (now,) = tx.execute("pragma page_count").fetchone()  # type: ignore[attr-defined]
        tx.execute(f"pragma max_page_count = {pages or now + 3}")  # type: ignore[attr-defined]

    await store._write(limit)

    with pytest.raises(StoreFull, match="make room") as caught:
        await store.enqueue([NewJob(kind="big", payload="x" * 10_000)] * 20)

    assert isinstance(caught.value.__cause__, sqlite3.Error)
    assert sum((await store.counts_by_status()).values()) == 1
    await store._write(lambda tx: limit(tx, 100_000))
    assert (await store.enqueue([WORK]))[0].created


async def test_what_a_connection_depends_on_is_set_whatever_the_file_says(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("pragma journal_mode = delete")
        connection.execute("pragma default_cache_size = 10")
    store = SqliteStore(path)

    await store.open()

    assert await store._write(lambda tx: tx.value("pragma journal_mode")) == "wal"
    assert await store._write(lambda tx: tx.value("pragma synchronous")) == 2
    assert await store._read(lambda tx: tx.value("pragma query_only")) == 1
    await store.close()


async def test_a_weaker_durability_is_asked_for_by_name(path: Path) -> None:
    store = SqliteStore(path, durability=Durability.PROCESS)

    await store.open()

    assert await store._write(lambda tx: tx.value("pragma synchronous")) == 1
    await store.close()
