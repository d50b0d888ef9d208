"""Lists find what they are asked for, however rare it is, without reading the whole table."""

from collections.abc import AsyncGenerator, Iterator
from itertools import product
from typing import Any

import pytest

from klokka.core.ids import JobId
from klokka.core.records import JobQuery, JobSummary
from klokka.core.states import JobStatus
from klokka.stores.postgres.link import Link, connect
from klokka.stores.postgres.listing import Listing
from klokka.stores.postgres.store import PostgresStore
from tests.support.postgres import connection

ROWS = 20_000
FEW = 4_000
"""How many rows of the table and entries of its indexes a list may look at: the newest thousand, and what it finds."""
FILL = """
    insert into klokka.jobs (
        enqueued_at, scheduled_for, run_at, payload_version, kind, queue, payload,
        status, due_at, terminal_at, lease_until, holder
    )
    select
        at, at, at, 1,
        case when n % 1000 = 77 then 'rare' when n < 3000 then 'old' else 'kind-' || n % 7 end,
        case when n % 1000 = 78 then 'rare' when n < 3000 then 'old' else 'queue-' || n % 3 end,
        '{}', state,
        case when state in ('enqueued', 'scheduled', 'failed') then at end,
        case when state in ('succeeded', 'dead_lettered', 'cancelled') then at end,
        case when state = 'running' then at end, case when state = 'running' then 'w' end
    from
        generate_series(1, {rows}) as n,
        lateral (select now() - n * interval '1 second' as at) as times,
        lateral (
            select case
                when n % 500 = 1 then 'running'
                when n % 500 = 2 then 'dead_lettered'
                when n % 500 = 3 then 'failed'
                when n % 500 = 4 then 'cancelled'
                when n % 20 = 5 then 'scheduled'
                when n < 300 then 'enqueued'
                else 'succeeded'
            end as state
        ) as states
"""
FILTERS = {
    "status": [None, *JobStatus],
    "kind": [None, "kind-1", "old", "rare", "unknown"],
    "queue": [None, "queue-1", "old", "rare", "unknown"],
}


def fill(where: str, rows: int) -> None:
    with connection(where) as administrator:
        administrator.execute(b"alter table klokka.jobs set (autovacuum_enabled = off)")
        administrator.execute(FILL.replace("{rows}", str(rows)).encode())


def among(jobs: list[JobSummary], query: JobQuery) -> list[JobSummary]:
    """What a list has to have, from all jobs."""
    found = [
        job
        for job in jobs
        if query.status in (None, job.status) and query.kind in (None, job.kind) and query.queue in (None, job.queue)
        if query.before is None or job.id < query.before
    ]
    return found[query.offset : query.offset + query.limit]


async def test_each_filter_and_page_has_what_all_jobs_have(where: str, store: PostgresStore) -> None:
    fill(where, 4000)
    jobs = await store.list_jobs(JobQuery(limit=10_000))
    assert len(jobs) == 4000

    for values in product(*FILTERS.values()):
        for page in ({}, {"limit": 3, "offset": 2}, {"before": JobId(jobs[1700].id), "limit": 7}):
            query = JobQuery(**dict(zip(FILTERS, values, strict=True)), **page)  # type: ignore[arg-type]

            assert await store.list_jobs(query) == among(jobs, query), query


@pytest.mark.parametrize("name", ["where true", "true", "terminal_at is not null and true"])
async def test_a_schema_may_be_named_like_what_is_replaced(bare: str, name: str) -> None:
    store = PostgresStore(bare, schema=name)
    await store.open()

    assert await store.list_jobs(JobQuery(kind="k")) == []
    assert await store.list_jobs(JobQuery(status=JobStatus.CANCELLED)) == []
    await store.close()


@pytest.fixture
async def link(where: str) -> AsyncGenerator[Link]:
    """A connection of the store's to a table that nobody has analysed since it was filled."""
    fill(where, ROWS)
    link = await connect(PostgresStore(where)._setting)
    yield link
    await link.close()


QUERIES = [
    JobQuery(kind="rare"),
    JobQuery(kind="rare", before=JobId(ROWS // 2), limit=5),
    JobQuery(kind="old"),
    JobQuery(kind="unknown"),
    JobQuery(queue="rare"),
    JobQuery(queue="old", kind="rare"),
    JobQuery(queue="queue-0", kind="unknown"),
    JobQuery(kind="rare", status=JobStatus.SUCCEEDED),
    JobQuery(status=JobStatus.RUNNING),
    JobQuery(status=JobStatus.SUCCEEDED, before=JobId(300)),
]


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: ", ".join(asked(query)))
async def test_what_is_rare_is_found_without_reading_the_table(where: str, link: Link, query: JobQuery) -> None:
    listing = Listing(query, PostgresStore(where)._setting.schema)
    assert listing.in_lines

    read = sum([await rows_read(link, sql, listing.parameters) for sql in (listing.newest(), listing.by_lines())])

    assert read < FEW


def asked(query: JobQuery) -> Iterator[str]:
    for name in ("status", "kind", "queue", "before"):
        if getattr(query, name) is not None:
            yield f"{name} {getattr(query, name)}"


async def rows_read(link: Link, sql: bytes, parameters: list[str]) -> int:
    """How many rows, or entries of indexes, the statement looks at."""
    await link.connection.execute(b"prepare list as " + sql)
    given = ", ".join(f"'{parameter}'" for parameter in parameters)
    cursor = await link.connection.execute(f"explain (analyze, format json) execute list ({given})".encode())
    row = await cursor.fetchone()
    await link.connection.execute(b"deallocate list")
    assert row is not None
    return sum(
        (node["Actual Rows"] + node.get("Rows Removed by Filter", 0)) * node["Actual Loops"]
        for node in nodes(row[0][0]["Plan"])
        if node.get("Relation Name") == "jobs"
    )


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for child in plan.get("Plans", []):
        yield from nodes(child)
