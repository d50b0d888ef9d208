"""What is wrong with a server is told with what to do, and nothing is changed by looking."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import psycopg
import pytest

from klokka.spi.diagnosis import Finding
from klokka.stores.postgres import findings
from klokka.stores.postgres.schema import Schema
from klokka.stores.postgres.store import PostgresStore
from tests.support.pooler import transaction_pooler
from tests.support.postgres import connection, fresh_role

SCHEMA = Schema('We"ird')


async def wrong(where: str) -> list[Finding]:
    """What is found besides how the tests' own server forgets."""
    report = await PostgresStore(where).diagnose()
    return [finding for finding in report.findings if "the machine dies" not in finding.problem]


async def test_a_sound_database_is_described(where: str) -> None:
    report = await PostgresStore(where).diagnose()

    assert report.facts["server"].startswith("PostgreSQL ")
    assert report.facts["pooler"] == "none"
    assert report.facts["role"].endswith(", which may enqueue, work, operate, migrate")
    assert "autovacuum_vacuum_threshold=10000" in report.facts["table jobs"]
    assert "jobs_due" in report.facts["indexes"]
    assert await wrong(where) == []


async def test_an_empty_database_is_described_too(bare: str) -> None:
    report = await PostgresStore(bare).diagnose()

    assert report.facts["role"].endswith("which may migrate")
    assert report.facts["indexes"] == "none"
    assert await wrong(bare) == []


async def test_a_pooler_is_recognised(where: str) -> None:
    async with transaction_pooler(where) as pooler:
        report = await PostgresStore(pooler).diagnose()

    assert report.facts["pooler"] == "between here and the server"


async def test_a_connection_for_wakeups_that_cannot_be_made_is_found_with_its_cause(where: str) -> None:
    report = await PostgresStore(where, listen="postgresql://u:hunter2@localhost:1/jobs").diagnose()

    finding = report.findings[-1]
    assert "?listen=" in finding.problem
    assert "'jobs' on localhost:1: the server cannot be reached" in finding.problem
    assert "hunter2" not in finding.problem
    assert "?listen=" in finding.advice


async def test_whoever_holds_a_snapshot_is_named(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(findings, "_LONG", timedelta(0))
    with psycopg.connect(where, application_name="report of the year") as holder:
        holder.execute("set transaction isolation level repeatable read")
        holder.execute("select count(*) from klokka.jobs")

        [finding] = await wrong(where)

        pid = holder.info.backend_pid
    for word in (f"session {pid}", "report of the year", "user postgres", "since 2", "idle in transaction", "count(*)"):
        assert word in finding.problem
    assert f"select pg_terminate_backend({pid});" in finding.advice


async def test_a_snapshot_that_is_young_is_told_and_not_wrong(where: str) -> None:
    with psycopg.connect(where, application_name="young") as holder:
        holder.execute("select pg_current_xact_id()")

        report = await PostgresStore(where).diagnose()

    assert "young" in report.facts["oldest snapshot"]


async def test_whoever_locks_the_table_of_jobs_is_named_and_the_rest_is_told(where: str) -> None:
    with psycopg.connect(where, application_name="nightly-report") as reader:
        pid = reader.info.backend_pid
        reader.execute("select 1 from klokka.jobs")
        async with behind(reader, where, "lock table klokka.jobs in access exclusive mode") as locking:
            report = await PostgresStore(where).diagnose()

            [finding] = [finding for finding in report.findings if "the machine dies" not in finding.problem]

    assert (
        f"session {pid} (nightly-report, idle in transaction) blocks {locking} (naughty-ddl, active), which blocks Klokka"
        in finding.problem
    )
    assert f"select pg_terminate_backend({pid});" in finding.advice
    assert {"server", "pooler", "role", "connections", "oldest snapshot"} <= report.facts.keys()
    assert report.facts["table jobs"] == "not seen: it is locked"


async def test_a_lock_that_waits_for_nobody_is_told_too(where: str) -> None:
    with psycopg.connect(where, application_name="index-by-hand") as holder:
        pid = holder.info.backend_pid
        holder.execute("lock table klokka.jobs in share mode")

        [finding] = await wrong(where)

    assert f"session {pid} (index-by-hand, idle in transaction) blocks Klokka" in finding.problem
    assert "ShareLock on the table jobs" in finding.problem


@asynccontextmanager
async def behind(holder: psycopg.Connection[Any], where: str, statement: str) -> AsyncGenerator[int]:
    """Another session, by its pid, that waits for `holder` to run `statement`."""
    async with await psycopg.AsyncConnection.connect(where, application_name="naughty-ddl") as waiting:
        pid = waiting.info.backend_pid
        task = asyncio.create_task(waiting.execute(statement.encode()))
        await asyncio.to_thread(_until_waiting, where, pid)
        try:
            yield pid
        finally:
            holder.rollback()
            await task


def _until_waiting(where: str, pid: int) -> None:
    with connection(where) as bystander:
        while bystander.execute("select pg_blocking_pids(%s) from pg_sleep(0.01)", [pid]).fetchone() == ([],):
            pass


async def test_settings_of_the_tables_that_were_taken_away_are_found(where: str) -> None:
    with connection(where) as administrator:
        administrator.execute("alter table klokka.jobs reset (autovacuum_vacuum_threshold)")
        administrator.execute("alter table klokka.leases set (autovacuum_enabled = off)")

        found = await wrong(where)
        for finding in found:
            administrator.execute(finding.advice.encode())

    assert ["jobs has lost" in finding.problem for finding in found] == [True, False]
    assert "off for the table leases" in found[1].problem
    assert await wrong(where) == []


async def test_an_index_that_is_not_valid_is_found(where: str) -> None:
    with connection(where) as administrator:
        administrator.execute(
            "update pg_index set indisvalid = false where indexrelid = 'klokka.jobs_trouble'::regclass"
        )

        [finding] = await wrong(where)
        administrator.execute(finding.advice.encode())

    assert "jobs_trouble is not valid" in finding.problem
    assert await wrong(where) == []


async def test_a_role_that_may_do_nothing_is_found_before_it_tries(where: str) -> None:
    with fresh_role(where) as (role, as_role):
        report = await PostgresStore(as_role).diagnose()

    assert report.facts["role"] == f"{role}, which may do nothing here"
    assert f"the role {role} may not enqueue" in report.findings[-1].problem


def test_what_a_test_cannot_bring_about_is_judged_as_well() -> None:
    found = [
        *findings.of_server(standby=True, fsync=None, full_pages="on"),
        *findings.of_connections(91, 100),
        *findings.of_vacuum("off", "off"),
        *findings.of_table("jobs", 200_000, "autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=1", SCHEMA),
        *findings.of_index("jobs_due", True, 900 << 20, 1000, SCHEMA),
    ]

    assert [finding.advice.split(":")[0] for finding in found] == [
        "Name all servers and ask for the primary",
        "Put a pooler before it, give the stores fewer (?connections=), or raise max_connections.",
        "alter system set autovacuum = on; select pg_reload_conf();",
        "alter system set track_counts = on; select pg_reload_conf();",
        "End whoever holds an old snapshot, see there; else",
        'reindex index concurrently "We""ird".jobs_due;',
    ]
    assert list(findings.of_index("jobs_due", True, 900 << 20, 9_000_000, SCHEMA)) == []


@pytest.mark.parametrize(
    ("what", "advice"),
    [
        ("session 7", "select pg_terminate_backend(7);"),
        ("standby east", "hot_standby_feedback"),
        ("prepared transaction x-1", "rollback prepared 'x-1';"),
        ("replication slot old", "select pg_drop_replication_slot('old');"),
    ],
)
def test_each_sort_of_holder_has_its_advice(what: str, advice: str) -> None:
    assert advice in findings.of_holder("told", what).advice


@pytest.mark.parametrize(
    ("length", "age", "long"),
    [
        (timedelta(minutes=6), 1, True),
        (timedelta(minutes=4), 9_999_999, False),
        (None, 2_000_000, True),
        (None, 9, False),
    ],
)
def test_a_snapshot_is_old_by_its_time_or_by_what_has_begun_since(length: timedelta, age: int, long: bool) -> None:
    assert findings.is_long(length, age) is long
