"""Beside a snapshot that somebody holds, no dead entry can be cleared away, and claims are as quick as ever."""

from collections.abc import Awaitable, Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import psycopg
import pytest

from klokka.core.ids import JobId, WorkerId
from klokka.core.records import ClaimedJob, NewJob
from klokka.core.states import JobStatus, Running, Scheduled
from klokka.stores.postgres import floors
from klokka.stores.postgres.floors import LOOKS_BACK, Floor, Floors, places
from klokka.stores.postgres.link import Link, connect
from klokka.stores.postgres.parameters import texts
from klokka.stores.postgres.schema import Schema
from klokka.stores.postgres.store import PostgresStore
from tests.support.postgres import connection
from tests.support.working import handler, status, until, working

MANY = 20_000
MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
MOMENT = timedelta(milliseconds=1)
KINDS = texts(["k", "l"])
WORKER = WorkerId("w")

RUN_THROUGH = (
    """
    insert into klokka.jobs (
        enqueued_at, scheduled_for, run_at, due_at, payload_version, queue, kind, payload, status
    )
    select at, at, at, at, 1, queue, kind, '{}', 'enqueued'
    from
        generate_series(1, %(number)s) as n,
        unnest(%(queues)s::text[]) as queue,
        unnest(array['k', 'l']) as kind,
        lateral (select now() - interval '1 day' + n * interval '1 millisecond' as at) as times
    """,
    "update klokka.jobs set status = 'running', due_at = null, lease_until = now() - interval '2 hours', holder = 'w'",
    "update klokka.jobs set status = 'succeeded', lease_until = null, holder = null, terminal_at = now()",
)


@dataclass
class Beside:
    """A store beside a held snapshot, and the clock by which it looks back."""

    where: str
    store: PostgresStore
    holder: psycopg.Connection[Any]
    time: float = 0.0
    queues: tuple[str, ...] = ("default",)

    def run_through(self, number: int) -> None:
        """Leaves the remains of so many jobs of each of two kinds in each queue."""
        with connection(self.where) as others:
            for statement in RUN_THROUGH:
                others.execute(statement.encode(), {"number": number, "queues": list(self.queues)})

    async def claim(
        self, limit: int, *, kinds: tuple[str, ...] = ("k",), lease: timedelta = MINUTE, **caps: int
    ) -> list[ClaimedJob]:
        return await self.store.claim(
            queues=self.queues, kinds=kinds, limit=limit, lease=lease, worker=WORKER, caps=caps
        )

    async def ids(self, limit: int, **more: Any) -> list[JobId]:
        return [job.id for job in await self.claim(limit, **more)]

    async def enqueue(self, number: int, *, ago: timedelta, kind: str = "k", queue: str = "default") -> list[JobId]:
        new = NewJob(kind=kind, queue=queue, payload="1", run_at=await self.store.now() - ago)
        return [result.id for result in await self.store.enqueue([new] * number)]

    def entries_read(self) -> int:
        """Of the indexes that claims read, by whoever has disconnected."""
        with connection(self.where) as others:
            query = "select sum(idx_tup_read) from pg_stat_user_indexes where indexrelname = any(%s)"
            (number,) = others.execute(query, [["jobs_due", "jobs_leased"]]).fetchone() or (0,)
        return int(number)

    async def sessions_are_gone(self) -> None:
        """Returns when the store's sessions have told what they read."""
        query = "select from pg_stat_activity where datname = current_database() and application_name = 'klokka'"
        with connection(self.where) as others:
            await until(lambda: others.execute(query).fetchone() is None, "the sessions to end")


@pytest.fixture
def holder(where: str) -> Generator[psycopg.Connection[Any]]:
    """Whose snapshot sees every row as it was."""
    with psycopg.connect(where) as holder:
        holder.execute("set transaction isolation level repeatable read")
        holder.execute("select count(*) from klokka.jobs")
        yield holder


@pytest.fixture
async def beside(where: str, store: PostgresStore, holder: psycopg.Connection[Any]) -> Beside:
    """What the tests here work with."""
    beside = Beside(where, store, holder)
    store._open_session().floors = Floors(clock=lambda: beside.time)
    return beside


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


async def passed(beside: Beside) -> list[JobId]:
    """Claims that have learnt where to begin: the ids of the jobs that still wait there."""
    beside.run_through(1_100)
    ids = await beside.enqueue(9, ago=MINUTE)
    assert await beside.ids(3) == ids[:3]
    assert await beside.ids(3) == ids[3:6]
    return ids[6:]


async def put_late(beside: Beside) -> JobId:
    await passed(beside)
    (job,) = await beside.enqueue(1, ago=HOUR)
    return job


async def put_back(beside: Beside) -> JobId:
    await passed(beside)
    (job,) = await beside.claim(1)
    back = Scheduled(await beside.store.now() - HOUR)
    assert await beside.store.transition(job.id, from_=Running(), to=back, fence=job.fence, refund=True)
    return job.id


async def locked_when_passed(beside: Beside) -> JobId:
    first, *others = await passed(beside)
    with psycopg.connect(beside.where) as somebody:
        somebody.execute("select from klokka.jobs where id = %s for update", [first])
        assert await beside.ids(2) == others
    return first


async def resumed(beside: Beside) -> JobId:
    first, *_ = await passed(beside)
    await beside.store.pause_queue("default", "maintenance")
    assert await beside.ids(1) == []
    await beside.store.resume_queue("default")
    return first


@pytest.mark.parametrize("way", [put_late, put_back, locked_when_passed, resumed])
async def test_what_comes_behind_the_place_of_the_last_claim_is_given_after_a_second(
    beside: Beside, way: Callable[[Beside], Awaitable[JobId]]
) -> None:
    job = await way(beside)

    assert job not in await beside.ids(9)
    due = await beside.store.next_due(queues=beside.queues, kinds=["k"])
    assert due is not None
    assert due <= await beside.store.now() + LOOKS_BACK

    beside.time += 1
    assert (await beside.ids(9))[0] == job


async def test_whoever_found_nothing_in_a_look_at_all_rests_as_long_as_ever(beside: Beside) -> None:
    await passed(beside)
    await beside.ids(9)
    beside.time += 1

    assert await beside.ids(9) == []

    due = await beside.store.next_due(queues=beside.queues, kinds=["k"])
    assert due is not None
    assert due > await beside.store.now() + MINUTE / 2


async def test_a_lease_that_ends_is_taken_over_at_once(beside: Beside) -> None:
    first, *others = await passed(beside)
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
    waiting = await passed(beside)
    beside.holder.rollback()
    with connection(beside.where) as others:
        others.execute("vacuum (index_cleanup on) klokka.jobs")
    beside.time += 1
    assert await beside.ids(1) == waiting[:1]
    early = await beside.enqueue(1, ago=HOUR)

    assert await beside.ids(9) == [*early, *waiting[1:]]


async def test_a_worker_is_back_for_what_it_has_passed_over(beside: Beside, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(floors, "LOOKS_BACK", timedelta(seconds=0.1))
    beside.store._open_session().floors = Floors()
    beside.run_through(1_500)

    async def nothing(payload: Any, context: Any) -> None: ...

    async with working(beside.store, handler(nothing, kind="k"), poll=HOUR):
        for ago in (MOMENT, MOMENT, HOUR):
            (job,) = await beside.enqueue(1, ago=ago)
            await status(beside.store, job, JobStatus.SUCCEEDED)
