"""Whatever an earlier version left behind is brought up to date and worked off, and what is open goes on meanwhile.

`versions/` has for each version of the schema what its code may have left; a new migration comes with a file of its own.
"""

import hashlib
from collections.abc import AsyncGenerator
from contextlib import aclosing
from datetime import timedelta
from pathlib import Path

import pytest

from klokka.core.ids import JobId, ScheduleId, WorkerId
from klokka.core.records import Change, NewJob
from klokka.core.states import Running, Succeeded
from klokka.errors import SchemaMismatch
from klokka.spi.life import Migrations
from klokka.stores._sql.migrations import Migration
from klokka.stores.postgres import migrator
from klokka.stores.postgres.store import PostgresStore
from tests.support.postgres import connection

LEFT = Path(__file__).with_name("versions")
VERSIONS = [step.version for step in migrator.STEPS]
MINUTE = timedelta(minutes=1)
ME = WorkerId("me")
NEXT = "alter table {schema}.jobs add column later text; create table {schema}.more (id bigint primary key);"


@pytest.fixture(params=VERSIONS)
async def left_by(request: pytest.FixtureRequest, bare: str, monkeypatch: pytest.MonkeyPatch) -> int:
    """A database as that version left it."""
    version: int = request.param
    with monkeypatch.context() as then:
        then.setattr(migrator, "STEPS", migrator.STEPS[:version])
        await PostgresStore(bare).migrate()
    with connection(bare) as earlier:
        earlier.execute((LEFT / f"{version:04d}.sql").read_bytes())
    return version


@pytest.fixture
async def upgraded(bare: str, left_by: int) -> AsyncGenerator[PostgresStore]:
    store = PostgresStore(bare)
    assert await store.migrate() == Migrations(current=left_by, latest=VERSIONS[-1])
    await store.open()
    yield store
    await store.close()


def test_each_version_has_its_leavings() -> None:
    assert sorted(file.name for file in LEFT.iterdir()) == [f"{version:04d}.sql" for version in VERSIONS]


async def test_jobs_of_an_earlier_version_are_worked_off(upgraded: PostgresStore) -> None:
    jobs = await upgraded.claim(queues=["default"], kinds=["k"], limit=9, lease=MINUTE, worker=ME)

    assert [(job.id, job.attempt, job.lapses, job.payload) for job in jobs] == [
        (3, 2, 1, "3"),
        (1, 1, 0, '{"a": 1}'),
        (4, 3, 1, "4"),
    ]
    done = [Change(id=job.id, from_=Running(), to=Succeeded(), fence=job.fence) for job in jobs]
    assert await upgraded.transition_many(done) == [True] * 3
    assert [count for count in (await upgraded.counts_by_status()).values() if count] == [1, 4, 1, 1]


async def test_what_people_look_for_is_there(upgraded: PostgresStore) -> None:
    waiting, dead = await upgraded.get_job(JobId(2)), await upgraded.get_job(JobId(6))

    assert waiting is not None
    assert dict(waiting.headers) == {"h": "v"}
    assert dead is not None
    assert dead.last_error is not None
    assert await upgraded.requeue(JobId(6))


async def test_names_schedules_and_the_fleet_go_on(upgraded: PostgresStore) -> None:
    (fire,) = await upgraded.due_schedules(ids=[ScheduleId("s")], limit=1, lease=MINUTE, worker=ME)

    assert fire.fence == 5
    assert dict(await upgraded.paused_queues()) == {"resting": "r"}
    assert [row.beat.id for row in await upgraded.workers()] == ["w"]
    assert await upgraded.claim_key("scope", "key", MINUTE) is None
    assert await upgraded.acquire_lease("l", "me", MINUTE) == 5
    assert await upgraded.read_cursor("c") is not None
    (again,) = await upgraded.enqueue([NewJob(kind="k", payload="{}", unique_key="key")])
    assert (again.id, again.created) == (1, False)


async def test_a_handle_that_is_open_works_on_while_a_newer_version_migrates(
    where: str, store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next version is made up: it adds, as every migration of ours has to."""
    (first,) = await store.enqueue([NewJob(kind="k", payload="{}")])
    async with aclosing(store.wakeups()) as wakeups:
        await anext(wakeups)
        step = Migration(
            version=VERSIONS[-1] + 1, name="next", text=NEXT, checksum=hashlib.sha256(NEXT.encode()).hexdigest()
        )
        with monkeypatch.context() as later:
            later.setattr(migrator, "STEPS", (*migrator.STEPS, step))
            assert (await PostgresStore(where).migrate()).latest == step.version

        (second,) = await store.enqueue([NewJob(kind="k", payload="{}", unique_key="u")])
        await anext(wakeups)
    jobs = await store.claim(queues=["default"], kinds=["k"], limit=9, lease=MINUTE, worker=ME)
    done = [Change(id=job.id, from_=Running(), to=Succeeded(), fence=job.fence) for job in jobs]

    assert [job.id for job in jobs] == [first.id, second.id]
    assert await store.transition_many(done) == [True, True]


async def test_earlier_code_that_starts_on_a_newer_schema_is_refused(
    where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(migrator, "STEPS", migrator.STEPS[:-1])

    with pytest.raises(SchemaMismatch, match=f"version {VERSIONS[-1]}, and this Klokka knows {VERSIONS[-1] - 1}"):
        await PostgresStore(where).open()
