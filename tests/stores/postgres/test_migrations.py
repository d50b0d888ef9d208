"""The schema is made once whoever comes, goes on after an interruption, and refuses what it cannot be."""

import asyncio
import subprocess
import sys

import psycopg
import pytest

from klokka.core.records import NewJob
from klokka.errors import InvalidName, SchemaMismatch, StoreReadOnly
from klokka.spi.life import Migrations
from klokka.stores.postgres.migrator import STEPS
from klokka.stores.postgres.store import PostgresStore
from tests.support.firing import fires
from tests.support.postgres import connection, fresh_role

LATEST = len(STEPS)
WHOLE = PostgresStore("postgresql:///jobs").migration_sql()
CUT = WHOLE[WHOLE.index("do ") : WHOLE.index("create index")]
"""Run without its transaction, and cut after the first table."""
NAMES = ['We"ird näme', "klokka's", "{channel}", "$1 $$", "x" * 63, "öäü" * 10, "select", "A.B", "%s"]


OPEN_AND_ENQUEUE = """
import asyncio, sys
from klokka.core.records import NewJob
from klokka.stores.postgres.store import PostgresStore

async def run():
    store = PostgresStore(sys.argv[1])
    sys.stdin.read()
    await store.open()
    print((await store.enqueue([NewJob(kind="k", payload="{}")]))[0].id)
    await store.close()

asyncio.run(run())
"""


def test_eight_processes_at_once_make_one_schema(bare: str) -> None:
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    processes = [subprocess.Popen([sys.executable, "-c", OPEN_AND_ENQUEUE, bare], **pipes) for _ in range(8)]
    for process in processes:
        assert process.stdin is not None
        process.stdin.close()
        process.stdin = None
    said = [process.communicate(timeout=60)[0] for process in processes]

    assert [process.returncode for process in processes] == [0] * 8
    assert sorted(map(int, said)) == list(range(1, 9))
    with connection(bare) as bystander:
        assert bystander.execute("select count(*) from klokka.migrations").fetchone() == (LATEST,)


async def test_handles_that_open_at_once_make_one_schema(bare: str) -> None:
    stores = [PostgresStore(bare) for _ in range(8)]

    await asyncio.gather(*(store.open() for store in stores))

    for store in stores:
        await store.close()
    assert await stores[0].schema() == Migrations(current=LATEST, latest=LATEST)


@pytest.mark.parametrize("name", NAMES)
async def test_a_schema_may_have_any_name(bare: str, name: str) -> None:
    store = PostgresStore(bare, schema=name)
    await store.open()

    (result,) = await store.enqueue([NewJob(kind="k", payload="{}", unique_key="key")])

    assert (await store.enqueue([NewJob(kind="k", payload="{}", unique_key="key")]))[0].id == result.id
    (fire,) = await fires(store, 1)
    assert await store.complete_fire(
        fire.schedule_id, fence=fire.fence, runs=[NewJob(kind="k", payload="$1")], next_fire_at=None
    )
    await store.close()
    with connection(bare) as bystander:
        assert bystander.execute("select from pg_namespace where nspname = %s", [name]).fetchone() is not None


@pytest.mark.parametrize("name", ["", "x" * 64, "ä" * 32, "pg_jobs", "information_schema", "nul\0"])
def test_a_schema_that_cannot_be_is_refused_at_the_door(name: str) -> None:
    with pytest.raises(ValueError, match="schema"):
        PostgresStore("postgresql://localhost/jobs", schema=name)


def test_a_name_that_would_be_cut_says_so() -> None:
    with pytest.raises(InvalidName, match="63 bytes"):
        PostgresStore("postgresql://localhost/jobs", schema="ä" * 40)


async def test_looking_changes_nothing(bare: str) -> None:
    store = PostgresStore(bare)

    assert await store.schema() == Migrations(current=0, latest=LATEST)
    with connection(bare) as bystander:
        assert bystander.execute("select from pg_namespace where nspname = 'klokka'").fetchone() is None


async def test_migrating_twice_says_where_it_stood(bare: str) -> None:
    store = PostgresStore(bare)

    assert await store.migrate() == Migrations(current=0, latest=LATEST)
    assert await store.migrate() == Migrations(current=LATEST, latest=LATEST)


async def test_the_script_makes_the_same_schema(bare: str) -> None:
    store = PostgresStore(bare, schema='We"ird näme', migrate=False)
    with connection(bare) as administrator:
        administrator.execute(store.migration_sql().encode())

    await store.open()

    assert await store.schema() == Migrations(current=LATEST, latest=LATEST)
    await store.close()


async def test_an_interrupted_migration_goes_on_at_the_next(bare: str) -> None:
    store = PostgresStore(bare)
    with connection(bare) as somebody:
        somebody.execute("begin")
        somebody.execute(PostgresStore(bare).migration_sql().encode().replace(b"begin;", b"").replace(b"commit;", b""))
        somebody.execute("rollback")

    await store.open()

    assert await store.schema() == Migrations(current=LATEST, latest=LATEST)
    await store.close()


async def test_without_leave_to_migrate_an_older_schema_is_refused(bare: str) -> None:
    with pytest.raises(SchemaMismatch, match=f"has version 0, and this Klokka needs {LATEST}.*klokka migrate"):
        await PostgresStore(bare, migrate=False).open()


async def test_a_newer_schema_is_refused_with_both_versions(where: str) -> None:
    with connection(where) as newer:
        newer.execute(
            "insert into klokka.migrations (version, name, checksum, applied_at) values (99, 'later', 'x', now())"
        )

    with pytest.raises(SchemaMismatch, match=f"version 99.*knows {LATEST}"):
        await PostgresStore(where).open()


async def test_an_altered_migration_is_refused(where: str) -> None:
    with connection(where) as other:
        other.execute("update klokka.migrations set checksum = repeat('0', 64)")

    with pytest.raises(SchemaMismatch, match="another text"):
        await PostgresStore(where).open()


@pytest.mark.parametrize("undo", ["delete from klokka.migrations", CUT])
async def test_tables_of_ours_without_a_recorded_version_are_refused(bare: str, undo: str) -> None:
    store = PostgresStore(bare)
    if undo != CUT:
        await store.migrate()
    with connection(bare) as administrator:
        administrator.execute(undo.encode())

    for attempt in (store.open, store.migrate, store.schema):
        with pytest.raises(
            SchemaMismatch, match=r"Klokka's table '\w+'.*no version.*half-applied or emptied.*[Rr]estore.*drop"
        ):
            await attempt()


async def test_part_of_a_later_version_without_its_record_is_refused(where: str) -> None:
    with connection(where) as administrator:
        administrator.execute("delete from klokka.migrations where version = 2")

    with pytest.raises(SchemaMismatch, match=r"0002_ended_kinds.*already there.*half-applied"):
        await PostgresStore(where).open()


async def test_a_missing_table_is_damage(where: str) -> None:
    with connection(where) as other:
        other.execute("drop table klokka.leases")

    with pytest.raises(SchemaMismatch, match=r"damaged.*'leases'"):
        await PostgresStore(where).open()


@pytest.mark.parametrize("table", ["jobs (id int)", "migrations (id int)"])
async def test_a_table_of_that_name_which_is_not_ours_is_left_alone(bare: str, table: str) -> None:
    with connection(bare) as other:
        other.execute("create schema klokka")
        other.execute(f"create table klokka.{table}".encode())

    with pytest.raises(SchemaMismatch, match=r"not Klokka's.*schema"):
        await PostgresStore(bare).open()


async def test_a_role_that_may_not_migrate_uses_a_current_schema(where: str) -> None:
    with fresh_role(where) as (role, as_role):
        with connection(where) as administrator:
            administrator.execute(f"grant usage on schema klokka to {role}".encode())
            administrator.execute(f"grant all on all tables in schema klokka to {role}".encode())
            administrator.execute(f"grant all on all sequences in schema klokka to {role}".encode())
        store = PostgresStore(as_role)

        await store.open()

        assert len(await store.enqueue([NewJob(kind="k", payload="{}")])) == 1
        await store.close()


async def test_a_role_that_may_not_migrate_is_told_who_should(bare: str) -> None:
    with fresh_role(bare) as (_, as_role), pytest.raises(StoreReadOnly, match="klokka migrate") as caught:
        await PostgresStore(as_role).open()

    assert isinstance(caught.value.__cause__, psycopg.errors.InsufficientPrivilege)


async def test_a_role_without_rights_on_the_tables_is_told_so(where: str) -> None:
    with fresh_role(where) as (_, as_role), pytest.raises(StoreReadOnly, match="lacks a right"):
        await PostgresStore(as_role).open()
