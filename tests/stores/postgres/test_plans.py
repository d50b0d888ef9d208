"""Each hot statement has its one plan, whatever the table looks like and whatever the planner believes."""

import json
from collections.abc import AsyncGenerator, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from klokka.core.records import JobQuery
from klokka.stores.postgres.floors import Floor, places
from klokka.stores.postgres.link import Link, connect
from klokka.stores.postgres.listing import Listing
from klokka.stores.postgres.parameters import numbers, texts
from klokka.stores.postgres.schema import Schema
from klokka.stores.postgres.store import PostgresStore
from tests.support.postgres import connection

KINDS = texts(f"kind-{number}" for number in range(18))
IDS = numbers(range(1, 101))
FENCES = numbers([1] * 100)
CHANGES = json.dumps(
    {str(n): {"from_status": "running", "status": "failed", "waits": True, "refund": 0} for n in range(100)}
)
KEYED = json.dumps(
    [{"kind": "a", "queue": "q", "payload": "1", "payload_version": 1, "unique_key": str(n)} for n in range(9)]
)
AT_THE_FLOOR = {"jobs_due": ".id) > ROW(", "jobs_leased": ".lease_until >= "}
BOUNDED = {
    "claim_jobs": AT_THE_FLOOR,
    "next_due": AT_THE_FLOOR,
    "left_behind": {"jobs_due": ".id) <= ROW(", "jobs_leased": ".lease_until < "},
}
"""Where an index is entered or left, instead of read from its head or to its end."""
FLOOR = Floor(datetime.now(UTC), 7, datetime.now(UTC))

Plan = dict[str, Any]

STATEMENTS: dict[str, tuple[list[str], set[str]]] = {
    "claim_jobs": (
        [texts(["one", "two"]), "{100,100}", KINDS, "100", "30 s", "w", *places([None, FLOOR]), "1000"],
        {"jobs_due", "jobs_leased", "jobs_pkey"},
    ),
    "left_behind": ([texts(["one", "two"]), KINDS, *places([None, FLOOR])], {"jobs_due", "jobs_leased"}),
    "next_due": ([texts(["one", "two"]), KINDS, *places([None, FLOOR]), "1 s"], {"jobs_due", "jobs_leased"}),
    "extend_leases": ([IDS, FENCES, "w", "30 s"], {"jobs_pkey"}),
    "settle_jobs": ([IDS, FENCES, "succeeded"], {"jobs_pkey"}),
    "transition_jobs": ([CHANGES], {"jobs_pkey"}),
    "enqueue_keyed_jobs": ([KEYED], {"jobs_live_key"}),
    "sweep": ([texts(["succeeded", "cancelled"]), texts(["1 hour", "1 hour"]), "1000"], {"jobs_ended", "jobs_pkey"}),
    "get_job": (["7"], {"jobs_pkey"}),
    "cancel_job": (["7"], {"jobs_pkey"}),
    "requeue_job": (["7"], {"jobs_pkey"}),
    "report_progress": (["7", "1", "0.5"], {"jobs_pkey"}),
    "key_rival": (["7"], {"jobs_live_key", "jobs_pkey"}),
}
LINES = {"jobs_ended_kind", "jobs_due", "jobs_leased"}
FIRES: dict[str, tuple[list[str], set[str]]] = {
    "enqueue_jobs": (["s", "1", "2030-01-01T00:00:00Z", KEYED], set()),
    "enqueue_keyed_jobs": (["s", "1", "2030-01-01T00:00:00Z", KEYED], {"jobs_live_key"}),
}
"""What completes a fire, by the statement that stores its runs."""
FILL = """
    insert into klokka.jobs (
        enqueued_at, scheduled_for, run_at, payload_version, queue, kind, payload, unique_key,
        status, due_at, terminal_at, lease_until, holder
    )
    select
        at, at, at, 1, 'one', 'kind-' || n % 20, '{}', case when n % 10 = 0 then n::text end,
        state, case when state = 'enqueued' then at end, case when state = 'succeeded' then at end,
        case when state = 'running' then at end, case when state = 'running' then 'w' end
    from
        generate_series(1, 10000) as n,
        lateral (select now() - n * interval '1 second' as at) as times,
        lateral (select (array['enqueued', 'succeeded', 'succeeded', 'running'])[1 + n % 4] as state) as states
"""
TABLES = {
    "never looked at": ["alter table klokka.jobs set (autovacuum_enabled = off)"],
    "found empty": ["alter table klokka.jobs set (autovacuum_enabled = off)", "vacuum analyze klokka.jobs"],
    "found empty and filled": [
        "alter table klokka.jobs set (autovacuum_enabled = off)",
        "vacuum analyze klokka.jobs",
        FILL,
    ],
    "filled and known": [FILL, "vacuum analyze klokka.jobs"],
    "emptied since it was known": [FILL, "vacuum analyze klokka.jobs", "delete from klokka.jobs"],
}


@pytest.fixture(params=TABLES, ids=lambda name: name.replace(" ", "-"))
async def link(request: pytest.FixtureRequest, where: str) -> AsyncGenerator[Link]:
    """A connection of the store's to a table in one of these conditions."""
    with connection(where) as administrator:
        for statement in TABLES[request.param]:
            administrator.execute(statement.encode())
    link = await connect(PostgresStore(where)._setting)
    yield link
    await link.close()


@pytest.mark.parametrize("mode", ["force_generic_plan", "force_custom_plan"])
async def test_hot_statements_look_up_what_they_need_by_index(where: str, link: Link, mode: str) -> None:
    await link.connection.execute(f"set plan_cache_mode = {mode}".encode())

    for name, (parameters, indexes) in STATEMENTS.items():
        plan = await explained(link, schema(where).sql(name), parameters)

        assert {scan["Index Name"] for scan, _ in scans(plan, "jobs")} == indexes, name
        for scan, parent in scans(plan, "jobs"):
            assert condition(scan), f"{name} reads the whole of {scan['Index Name']}"
            bound = BOUNDED.get(name, {}).get(scan["Index Name"], "")
            assert bound in condition(scan), f"{name} reads {scan['Index Name']} beyond its bound"
            if scan["Index Name"] in ("jobs_due", "jobs_leased", "jobs_ended"):
                assert parent["Node Type"] in ("Limit", "LockRows"), f"{name} sorts what it reads"


@pytest.mark.parametrize("mode", ["force_generic_plan", "force_custom_plan"])
async def test_a_fire_is_completed_by_its_key_and_its_runs_go_in_as_ever(where: str, link: Link, mode: str) -> None:
    await link.connection.execute(f"set plan_cache_mode = {mode}".encode())

    for name, (parameters, indexes) in FIRES.items():
        plan = await explained(link, schema(where).gated("complete_fire", name), parameters)

        assert {scan["Index Name"] for scan, _ in scans(plan, "jobs")} == indexes, name
        assert [scan["Index Name"] for scan, _ in scans(plan, "schedules")] == ["schedules_pkey"], name


@pytest.mark.parametrize("mode", ["force_generic_plan", "force_custom_plan"])
@pytest.mark.parametrize("query", [{"kind": "rare"}, {"queue": "rare"}, {"kind": "rare", "queue": "rare"}], ids=str)
async def test_lists_of_a_kind_or_queue_go_by_index(where: str, link: Link, mode: str, query: dict[str, str]) -> None:
    await link.connection.execute(f"set plan_cache_mode = {mode}".encode())
    listing = Listing(JobQuery(**query), schema(where))  # type: ignore[arg-type]

    for sql, indexes in ((listing.newest(), set[str]()), (listing.by_lines(), LINES)):
        plan = await explained(link, sql, listing.parameters)

        assert {scan["Index Name"] for scan, _ in scans(plan, "jobs")} == {"jobs_pkey", *indexes}
        for scan, parent in scans(plan, "jobs"):
            if scan["Index Name"] == "jobs_ended_kind":
                assert parent["Node Type"] in ("Limit", "Result"), "the newest come first"
                assert condition(scan) or parent["Parent Relationship"] == "Outer"
            else:
                assert condition(scan), scan["Index Name"]


def schema(where: str) -> Schema:
    return PostgresStore(where)._setting.schema


async def explained(link: Link, sql: bytes, parameters: list[str]) -> Plan:
    await link.connection.execute(b"prepare hot as " + sql)
    given = ", ".join("'" + parameter.replace("'", "''") + "'" for parameter in parameters)
    cursor = await link.connection.execute(f"explain (format json, verbose) execute hot ({given})".encode())
    row = await cursor.fetchone()
    await link.connection.execute(b"deallocate hot")
    assert row is not None
    plan: Plan = row[0][0]["Plan"]
    return plan


def nodes(plan: Plan, parent: Plan) -> Iterator[tuple[Plan, Plan]]:
    yield plan, parent
    for child in plan.get("Plans", []):
        yield from nodes(child, plan)


def scans(plan: Plan, table: str) -> list[tuple[Plan, Plan]]:
    found = [(node, parent) for node, parent in nodes(plan, plan) if node.get("Relation Name") == table]
    return [(node, parent) for node, parent in found if node["Node Type"] != "ModifyTable"]


def condition(scan: Plan) -> str:
    return str(scan.get("Index Cond", ""))
