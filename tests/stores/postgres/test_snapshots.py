"""Beside a snapshot that somebody holds, no dead entry can be cleared away, and claims are as quick as ever."""

import time
from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Any

import pytest

from klokka.core.states import JobStatus
from klokka.stores.postgres import floors, looking_back
from klokka.stores.postgres.floors import Floor, places
from klokka.stores.postgres.link import Link, connect
from klokka.stores.postgres.parameters import texts
from klokka.stores.postgres.schema import Schema
from klokka.tck.check import Check
from klokka.tck.checks import every_check
from klokka.tck.report import Failed
from klokka.tck.run import run_check
from tests.support.postgres import connection
from tests.support.snapshots import HOUR, MINUTE, MOMENT, Beside, looks_back_by
from tests.support.subjects import FACTORIES
from tests.support.working import LONG, handler, status, working

MANY = 20_000
KINDS = texts(["k", "l"])
CHECKS = [
    check
    for check in every_check()
    if check.id.split(".")[0] in ("claim", "claim_order", "machine") and "claim.next-due" not in check.clauses
]
"""Those of claims; but `next_due` is always at once where somebody looks back all the time."""


async def test_a_claim_reads_no_more_however_many_have_run_beside_the_snapshot(beside: Beside) -> None:
    beside.run_through(MANY)
    ids = await beside.enqueue(500, ago=HOUR)
    before = beside.entries_read()

    claimed = [job for _ in range(100) for job in await beside.ids(10)]
    await beside.store.next_due(queues=beside.queues, kinds=["k"])
    await beside.store.close()
    await beside.sessions_are_gone()

    assert claimed == ids
    # The first claim read what is dead in both indexes and told the others where to begin.
    assert beside.entries_read() - before < 2 * MANY + 100 * 1_500


@pytest.mark.parametrize("known", ["", "analyze klokka.jobs"], ids=["unknown-to-the-planner", "known-to-the-planner"])
@pytest.mark.parametrize("mode", ["force_generic_plan", "force_custom_plan"])
async def test_statements_enter_the_indexes_at_the_floor(beside: Beside, known: str, mode: str) -> None:
    beside.run_through(MANY)
    link = await connect(beside.store._setting)
    await link.connection.execute(f"{known}; set plan_cache_mode = {mode}".encode())
    now = await beside.store.now()

    async def pages(floor: Floor | None) -> list[int]:
        claim = [texts(beside.queues), "{100}", KINDS, "100", "30 s", "w", *places([floor]), "1000"]
        return [
            await pages_read(link, "claim_jobs", claim),
            await pages_read(link, "next_due", [texts(beside.queues), KINDS, *places([floor]), None]),
        ]

    at_all, at_the_floor = await pages(None), await pages(Floor(now, 0, now))
    await link.close()

    assert min(at_all) > 2 * MANY / 500
    assert max(at_the_floor) < 20


async def pages_read(link: Link, name: str, parameters: Sequence[str | None]) -> int:
    """Of the indexes that claims read, by one statement."""
    await link.connection.execute(b"prepare hot as " + Schema("klokka").sql(name))
    given = ", ".join("null" if parameter is None else f"'{parameter}'" for parameter in parameters)
    explain = f"explain (analyze, buffers, format json) execute hot ({given})"
    ((plan,),) = await (await link.connection.execute(explain.encode())).fetchall()
    await link.connection.execute(b"deallocate hot")
    return sum(
        node["Shared Hit Blocks"] + node["Shared Read Blocks"]
        for node in nodes(plan[0]["Plan"])
        if node.get("Index Name") in ("jobs_due", "jobs_leased")
    )


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for child in plan.get("Plans", []):
        yield from nodes(child)


async def test_a_lease_that_ends_is_taken_over_at_once(beside: Beside) -> None:
    first, *others = await beside.passed()
    (job,) = await beside.claim(1, lease=MOMENT)
    assert job.id == first
    while await beside.store.now() < job.lease_until:
        pass

    taken = await beside.claim(9)

    assert [(job.id, job.lapses) for job in taken] == [(first, 1), *((other, 0) for other in others)]


async def test_claims_keep_to_queues_kinds_and_caps_as_ever(beside: Beside) -> None:
    beside.queues = ("one", "two")
    beside.run_through(1_100)
    a = [await beside.enqueue(4, queue="one", kind=kind, ago=MINUTE) for kind in ("k", "l", "other")]
    b = [await beside.enqueue(4, queue="two", kind=kind, ago=MINUTE) for kind in ("k", "l", "other")]
    await beside.ids(1, kinds=("k", "l"), one=0)
    await beside.ids(1, kinds=("k", "l"))

    assert await beside.ids(5, kinds=("k", "l"), one=2) == [*a[0][1:3], *b[0][1:]]
    assert await beside.ids(9, kinds=("l", "k")) == [a[0][3], *a[1], *b[1]]


async def test_when_the_snapshot_is_gone_every_claim_looks_at_all_again(beside: Beside) -> None:
    waiting = await beside.passed()
    beside.holder.rollback()
    with connection(beside.where) as others:
        others.execute("vacuum (index_cleanup on) klokka.jobs")
    beside.time += 1
    assert await beside.ids(1) == waiting[:1]
    early = await beside.enqueue(1, ago=HOUR)

    assert await beside.ids(9) == [*early, *waiting[1:]]


async def test_a_worker_is_back_for_what_it_has_passed_over(beside: Beside, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(floors, "LOOKS_BACK", timedelta(seconds=0.1))
    looks_back_by(beside.store, time.monotonic)
    beside.run_through(1_500)

    async def nothing(payload: Any, context: Any) -> None: ...

    async with working(beside.store, handler(nothing, kind="k"), poll=MINUTE):
        for ago in (MOMENT, MOMENT, HOUR):
            (job,) = await beside.enqueue(1, ago=ago)
            await status(beside.store, job, JobStatus.SUCCEEDED)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.id)
async def test_claims_at_a_floor_keep_the_contract_as_those_from_the_head(
    check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(floors, "_IN_VAIN", -1_000_000)  # so that there is always a floor
    monkeypatch.setattr(floors, "LOOKS_BACK", timedelta(0))  # and none that hides anything
    monkeypatch.setattr(floors, "_SHARE", 0)
    monkeypatch.setattr(looking_back, "_MOMENT", LONG)

    result = await run_check(check, FACTORIES["postgres"])

    if isinstance(result, Failed):
        raise result.error
