"""The schema is made once, by whoever comes first, and refused where it is not ours."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from klokka.core.records import NewJob
from klokka.errors import SchemaMismatch
from klokka.spi.life import Migrations
from klokka.stores.sqlite import SqliteStore
from klokka.stores.sqlite.migrator import STEPS
from tests.support.sqlite_actor import actor, line

LATEST = len(STEPS)


def change(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        for text in statements:
            connection.execute(text)


def content(path: Path) -> bytes | None:
    return path.read_bytes() if path.exists() else None


def fill(path: Path, text: str) -> None:
    path.write_text(text)


async def refused(path: Path) -> str:
    store = SqliteStore(path)
    with pytest.raises(SchemaMismatch) as caught:
        await store.open()
    with pytest.raises(SchemaMismatch):
        await store.migrate()
    with pytest.raises(SchemaMismatch):
        await store.schema()
    return str(caught.value)


async def test_looking_at_the_schema_makes_no_file(path: Path) -> None:
    assert await SqliteStore(path).schema() == Migrations(current=0, latest=LATEST)
    assert content(path) is None


async def test_looking_at_the_schema_changes_nothing(path: Path) -> None:
    change(path, "create table mine (id integer)")
    before = content(path)

    standing = await SqliteStore(path).schema()

    assert standing == Migrations(current=0, latest=LATEST)
    assert content(path) == before


async def test_migrating_says_where_it_stood_and_is_done_once(path: Path) -> None:
    store = SqliteStore(path)

    assert await store.migrate() == Migrations(current=0, latest=LATEST)
    assert await store.migrate() == Migrations(current=LATEST, latest=LATEST)
    assert await store.schema() == Migrations(current=LATEST, latest=LATEST)


async def test_the_script_is_what_opening_does(path: Path) -> None:
    store = SqliteStore(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(store.migration_sql())

    before = await store.migrate()
    await store.open()

    assert before.current == LATEST
    assert (await store.enqueue([NewJob(kind="work", payload="{}")]))[0].created
    await store.close()


async def test_a_users_own_tables_are_left_alone(path: Path) -> None:
    change(path, "create table jobs (id integer)", "pragma application_id = 77", "pragma user_version = 5")

    store = SqliteStore(path)
    await store.open()
    await store.close()

    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("pragma application_id").fetchone() == (77,)
        assert connection.execute("pragma user_version").fetchone() == (5,)
        assert connection.execute("select count(*) from jobs").fetchone() == (0,)


async def test_eight_processes_at_once_migrate_once(path: Path) -> None:
    async def opened() -> str:
        async with actor(path, "migrates") as process:
            return await line(process)

    said = await asyncio.gather(*(opened() for _ in range(8)))

    assert said == [str(LATEST)] * 8
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("select count(*) from klokka_migrations").fetchone() == (LATEST,)


async def test_many_handles_of_one_process_open_at_once(path: Path) -> None:
    stores = [SqliteStore(path) for _ in range(8)]

    await asyncio.gather(*(store.open() for store in stores))

    await asyncio.gather(*(store.close() for store in stores))


async def test_an_interrupted_migration_leaves_nothing(path: Path) -> None:
    change(path, "create table klokka_migrations (version integer primary key, name, checksum, applied_at)")

    store = SqliteStore(path)
    await store.open()  # the ledger alone is how a step that never committed would look at its worst

    assert (await store.schema()).current == LATEST
    await store.close()


async def test_a_newer_schema_is_refused_with_both_versions(path: Path) -> None:
    await SqliteStore(path).migrate()
    change(path, "insert into klokka_migrations values (99, 'later', 'x', 0)")

    message = await refused(path)

    assert "version 99" in message
    assert f"knows {LATEST}" in message
    assert "Upgrade" in message


async def test_an_altered_migration_is_refused(path: Path) -> None:
    await SqliteStore(path).migrate()
    change(path, "update klokka_migrations set checksum = 'abc' where version = 1")

    message = await refused(path)

    assert "checksum abc" in message
    assert "0001_" in message


async def test_tables_of_our_names_that_are_not_ours_are_refused(path: Path) -> None:
    change(path, "create table klokka_jobs (id integer)")

    assert "klokka_jobs" in await refused(path)


async def test_a_ledger_of_another_shape_is_refused(path: Path) -> None:
    change(path, "create table klokka_migrations (number integer)")

    assert "klokka_migrations is not Klokka's" in await refused(path)


async def test_tables_of_ours_without_a_recorded_version_are_refused(path: Path) -> None:
    await SqliteStore(path).migrate()
    change(path, "delete from klokka_migrations")

    message = await refused(path)

    assert "Klokka's table 'klokka_cursors'" in message
    assert "records no version: it was half-applied or emptied. Restore a backup" in message


async def test_a_missing_table_is_refused_by_name(path: Path) -> None:
    await SqliteStore(path).migrate()
    change(path, "drop table klokka_leases")

    assert "klokka_leases is missing" in await refused(path)


async def test_a_file_of_another_sort_is_refused(path: Path) -> None:
    text = "This is a text that is long enough to be taken for a database. " * 50
    fill(path, text)

    assert "not an SQLite database" in await refused(path)
    assert content(path) == text.encode()
