"""What happens at once: statements that wait for each other's rows, and keys that are not decided yet."""

import asyncio
import threading
from dataclasses import replace
from datetime import timedelta

import psycopg
import pytest

from klokka.core.ids import WorkerId
from klokka.core.records import Change, ClaimedJob, NewJob
from klokka.core.states import Cancelled, Enqueued, Failed, Running, Succeeded
from klokka.errors import Busy, UniqueConflict
from klokka.stores.postgres.inserts import rendered
from klokka.stores.postgres.schema import Schema
from klokka.stores.postgres.store import PostgresStore
from tests.stores.postgres.test_outages import waiting_for_a_lock
from tests.support.firing import fires
from tests.support.postgres import execute

JOB = NewJob(kind="k", payload="{}")
KEYED = replace(JOB, unique_key="key")
MINUTE = timedelta(minutes=1)
WORKER = WorkerId("w")


async def claimed(store: PostgresStore, number: int = 1) -> list[ClaimedJob]:
    await store.enqueue([JOB] * number)
    return await store.claim(queues=["default"], kinds=["k"], limit=number, lease=MINUTE, worker=WORKER)


def enqueue_in(caller: psycopg.Connection[object], jobs: list[NewJob]) -> int:
    insert = rendered(jobs)
    row = psycopg.RawCursor(caller).execute(Schema("klokka").sql(insert.name), [insert.jobs]).fetchone()
    assert row is not None
    return int(row[0])


@pytest.mark.parametrize("to", [Succeeded(), Failed(MINUTE)])
async def test_a_settlement_applies_to_a_row_that_a_heartbeat_changes_meanwhile(
    where: str, store: PostgresStore, to: Succeeded | Failed
) -> None:
    (job,) = await claimed(store)
    with psycopg.connect(where) as heart:
        heart.execute("update klokka.jobs set lease_until = lease_until + interval '1 minute'")
        settling = asyncio.create_task(store.transition(job.id, from_=Running(), to=to, fence=job.fence))
        await waiting_for_a_lock(where)
        heart.commit()

        assert await settling


async def test_a_heartbeat_applies_to_a_row_that_another_heartbeat_changes_meanwhile(
    where: str, store: PostgresStore
) -> None:
    (job,) = await claimed(store)
    with psycopg.connect(where) as heart:
        heart.execute("update klokka.jobs set lease_until = lease_until + interval '1 second'")
        beating = asyncio.create_task(store.heartbeat({job.id: job.fence}, worker=WORKER, extend=2 * MINUTE))
        await waiting_for_a_lock(where)
        heart.commit()

        assert await beating == {job.id}


async def test_a_settlement_is_refused_if_the_job_is_claimed_anew_meanwhile(where: str, store: PostgresStore) -> None:
    (job,) = await claimed(store)
    with psycopg.connect(where) as taker:
        taker.execute("update klokka.jobs set fence = fence + 1")
        settling = asyncio.create_task(store.transition(job.id, from_=Running(), to=Succeeded(), fence=job.fence))
        await waiting_for_a_lock(where)
        taker.commit()

        assert not await settling


async def test_a_claim_passes_over_what_another_decides_on(where: str, store: PostgresStore) -> None:
    ids = [result.id for result in await store.enqueue([JOB] * 30)]
    with psycopg.connect(where) as other:
        other.execute("select from klokka.jobs order by id limit 10 for update")

        jobs = await store.claim(queues=["default"], kinds=["k"], limit=10, lease=MINUTE, worker=WORKER)

    assert [job.id for job in jobs] == ids[10:20]


async def test_swapped_fences_settle_nothing(store: PostgresStore) -> None:
    first, other = await claimed(store, 2)
    await store.transition(first.id, from_=Running(), to=Enqueued(), fence=first.fence)
    again, second = sorted(
        [*await store.claim(queues=["default"], kinds=["k"], limit=1, lease=MINUTE, worker=WORKER), other],
        key=lambda job: job.id,
    )
    assert again.fence != second.fence

    answers = await store.transition_many(
        [
            Change(id=again.id, from_=Running(), to=Succeeded(), fence=second.fence),
            Change(id=second.id, from_=Running(), to=Succeeded(), fence=again.fence),
        ]
    )

    assert answers == [False, False]
    assert (
        await store.heartbeat({again.id: second.fence, second.id: again.fence}, worker=WORKER, extend=MINUTE) == set()
    )


async def test_a_key_that_is_not_decided_is_waited_for_within_the_bound(where: str, store: PostgresStore) -> None:
    with psycopg.connect(where) as somebody:
        enqueue_in(somebody, [KEYED])

        with pytest.raises(Busy):
            await store.enqueue([JOB, KEYED])

        somebody.rollback()
    (plain, keyed) = await store.enqueue([JOB, KEYED])
    assert plain.created
    assert keyed.created


async def test_a_holder_that_commits_while_it_is_waited_for_is_the_answer(where: str, store: PostgresStore) -> None:
    with psycopg.connect(where) as somebody:
        holder = enqueue_in(somebody, [KEYED])
        enqueueing = asyncio.create_task(store.enqueue([JOB, KEYED, JOB]))
        await waiting_for_a_lock(where)
        somebody.commit()

        first, keyed, last = await enqueueing

    assert (keyed.id, keyed.created) == (holder, False)
    assert first.created
    assert first.id < last.id
    assert sum((await store.counts_by_status()).values()) == 3


async def test_a_fire_whose_run_waits_for_a_holder_is_completed_once_with_its_id(
    where: str, store: PostgresStore
) -> None:
    (fire,) = await fires(store, 1)
    with psycopg.connect(where) as somebody:
        holder = enqueue_in(somebody, [KEYED])
        completing = asyncio.create_task(
            store.complete_fire(fire.schedule_id, fence=fire.fence, runs=[JOB, KEYED], next_fire_at=None)
        )
        await waiting_for_a_lock(where)
        somebody.commit()

        results = await completing

    assert results is not None
    plain, keyed = results
    assert (plain.created, keyed.created, keyed.id) == (True, False, holder)
    assert sum((await store.counts_by_status()).values()) == 2
    (row,) = await store.list_schedules()
    assert row.fence == fire.fence + 1


async def test_a_fire_whose_run_cannot_be_stored_in_time_stays_to_be_completed(
    where: str, store: PostgresStore
) -> None:
    (fire,) = await fires(store, 1)
    with psycopg.connect(where) as somebody:
        enqueue_in(somebody, [KEYED])

        with pytest.raises(Busy):
            await store.complete_fire(fire.schedule_id, fence=fire.fence, runs=[JOB, KEYED], next_fire_at=None)

        somebody.rollback()
    assert sum((await store.counts_by_status()).values()) == 0
    assert await store.complete_fire(fire.schedule_id, fence=fire.fence, runs=[KEYED], next_fire_at=None)


async def test_one_conflicting_row_spoils_none_of_a_thousand(store: PostgresStore) -> None:
    (holder,) = await store.enqueue([KEYED])

    results = await store.enqueue([*[replace(JOB, unique_key=f"{n}") for n in range(500)], KEYED, *[JOB] * 499])

    assert [result.id for result in results if not result.created] == [holder.id]
    fresh = [result.id for result in results if result.created]
    assert fresh == sorted(fresh)


async def test_a_reopening_waits_for_an_undecided_key_and_names_the_holder(where: str, store: PostgresStore) -> None:
    (mine,) = await store.enqueue([KEYED])
    await store.cancel(mine.id)
    with psycopg.connect(where) as somebody:
        holder = enqueue_in(somebody, [KEYED])
        reopening = asyncio.create_task(store.requeue(mine.id))
        await waiting_for_a_lock(where)
        somebody.commit()

        with pytest.raises(UniqueConflict) as caught:
            await reopening

    assert caught.value.holder == holder
    details = await store.get_job(mine.id)
    assert details is not None
    assert details.summary.status == "cancelled"


async def test_a_conflict_within_a_batch_spoils_no_other(store: PostgresStore) -> None:
    (mine,) = await store.enqueue([KEYED])
    await store.cancel(mine.id)
    await store.enqueue([KEYED])
    (plain,) = await store.enqueue([JOB])

    answers = await store.transition_many(
        [
            Change(id=plain.id, from_=Enqueued(), to=Cancelled()),
            Change(id=mine.id, from_=Cancelled(), to=Enqueued()),
            Change(id=plain.id, from_=Cancelled(), to=Enqueued()),
            Change(id=plain.id, from_=Enqueued(), to=Cancelled()),
            Change(id=plain.id, from_=Enqueued(), to=Cancelled()),
        ]
    )

    assert answers == [True, False, True, True, False]


async def test_victims_of_deadlocks_are_repeated_unseen(where: str) -> None:
    execute("alter database {} set deadlock_timeout = '20ms'", psycopg.conninfo.conninfo_to_dict(where)["dbname"])
    store = PostgresStore(where)
    await store.open()
    jobs = await claimed(store, 2)
    with psycopg.connect(where) as other:
        other.execute("update klokka.jobs set progress = 0.5 where id = %s", [jobs[1].id])
        settling = asyncio.create_task(
            store.transition_many([Change(id=j.id, from_=Running(), to=Succeeded(), fence=j.fence) for j in jobs])
        )
        await waiting_for_a_lock(where)
        crossing = threading.Thread(target=_cross, args=(other, jobs[0].id))
        crossing.start()
        answers = await settling
        crossing.join(10)

    assert answers == [True, True]
    await store.close()


def _cross(other: psycopg.Connection[object], id: int) -> None:
    try:
        other.execute("update klokka.jobs set progress = 0.5 where id = %s", [id])
        other.commit()
    except psycopg.errors.DeadlockDetected:
        other.rollback()
