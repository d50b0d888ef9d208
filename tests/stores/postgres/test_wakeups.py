"""Hints come at commit, one for a transaction, and survive the loss of the connection that listens."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from functools import partial

import psycopg
import pytest

from klokka.core.ids import WorkerId
from klokka.core.records import Change, NewJob
from klokka.core.states import Enqueued, Failed, Running, Scheduled, State, Succeeded
from klokka.spi.wakeups import LONGEST_SLEEP
from klokka.stores.postgres.inserts import rendered
from klokka.stores.postgres.schema import Schema
from klokka.stores.postgres.store import PostgresStore
from tests.support.firing import fires
from tests.support.postgres import connection, end_connections
from tests.support.proxy import proxy_to

JOB = NewJob(kind="k", payload="{}")
MANY = [NewJob(kind=f"kind-{number}", payload="{}", queue="q" * 128) for number in range(10_000)]
SCHEMA = Schema("klokka")
HOUR = timedelta(hours=1)
SECOND = timedelta(seconds=1)
WORKER = WorkerId("w")
SOON_DUE = replace(JOB, run_at=LONGEST_SLEEP - SECOND)
LATER = replace(JOB, run_at=LONGEST_SLEEP + SECOND)
SOON = 10
"""Seconds; far longer than anything here takes."""


@asynccontextmanager
async def listening(where: str, **options: object) -> AsyncGenerator[tuple[PostgresStore, AsyncGenerator[None]]]:
    """An open store, and its hints after the first."""
    store = PostgresStore(where, bound=timedelta(seconds=0.5), **options)  # type: ignore[arg-type]
    await store.open()
    async with aclosing(store.wakeups()) as wakeups:
        await anext(wakeups)
        yield store, wakeups
    await store.close()


async def hint(wakeups: AsyncGenerator[None]) -> None:
    async with asyncio.timeout(SOON):
        await anext(wakeups)


def notifications(where: str, bystander: psycopg.Connection[object], jobs: list[NewJob], times: int) -> list[str]:
    """The payloads that arrive when the jobs are enqueued so many times in one transaction of the caller's."""
    insert = rendered(jobs)
    with psycopg.connect(where) as caller:
        for _ in range(times):
            psycopg.RawCursor(caller).execute(SCHEMA.sql(insert.name), [insert.jobs])
        assert list(bystander.notifies(timeout=0.05)) == []
    return [notify.payload for notify in bystander.notifies(timeout=0.2)]


@pytest.mark.parametrize(
    ("jobs", "times"), [(MANY, 1), ([JOB], 50), ([NewJob(kind="k", payload="1", unique_key="u")], 3)]
)
def test_a_transaction_notifies_once_and_says_nothing(where: str, jobs: list[NewJob], times: int) -> None:
    with connection(where) as bystander:
        bystander.execute(f"listen {SCHEMA.channel}".encode())

        assert notifications(where, bystander, jobs, times) == [""]


def test_a_transaction_that_stores_nothing_does_not_notify(where: str) -> None:
    held = [NewJob(kind="k", payload="1", unique_key="u")]
    with connection(where) as bystander:
        bystander.execute(f"listen {SCHEMA.channel}".encode())
        notifications(where, bystander, held, 1)

        assert notifications(where, bystander, held, 1) == []


Act = Callable[[PostgresStore], Awaitable[Callable[[], Awaitable[object]]]]


def enqueueing(*jobs: NewJob) -> Act:
    async def prepared(store: PostgresStore) -> Callable[[], Awaitable[object]]:
        return lambda: store.enqueue(jobs)

    return prepared


def enqueueing_once(job: NewJob) -> Act:
    async def prepared(store: PostgresStore) -> Callable[[], Awaitable[object]]:
        return lambda: store.enqueue_once(job, scope="s", key="k", ttl=HOUR)

    return prepared


def changing_to(*states: State) -> Act:
    """One batch, with a claimed job for each state."""

    async def prepared(store: PostgresStore) -> Callable[[], Awaitable[object]]:
        await store.enqueue([JOB] * len(states))
        jobs = await store.claim(queues=["default"], kinds=["k"], limit=len(states), lease=HOUR, worker=WORKER)
        changes = [
            Change(id=job.id, from_=Running(), to=to, fence=job.fence) for job, to in zip(jobs, states, strict=True)
        ]
        return lambda: store.transition_many(changes)

    return prepared


def completing(*runs: NewJob) -> Act:
    async def prepared(store: PostgresStore) -> Callable[[], Awaitable[object]]:
        (fire,) = await fires(store, 1)
        return partial(store.complete_fire, fire.schedule_id, fence=fire.fence, runs=runs, next_fire_at=None)

    return prepared


async def requeueing(store: PostgresStore) -> Callable[[], Awaitable[object]]:
    (job,) = await store.enqueue([JOB])
    await store.cancel(job.id)
    return lambda: store.requeue(job.id)


async def resuming_a_queue(store: PostgresStore) -> Callable[[], Awaitable[object]]:
    await store.pause_queue("default", "because")
    return lambda: store.resume_queue("default")


async def registering_a_schedule(store: PostgresStore) -> Callable[[], Awaitable[object]]:
    return lambda: fires(store, 1)


async def resuming_a_schedule(store: PostgresStore) -> Callable[[], Awaitable[object]]:
    (fire,) = await fires(store, 1)
    await store.pause_schedule(fire.schedule_id, "because")
    return lambda: store.resume_schedule(fire.schedule_id, fire.now)


RINGS: dict[str, Act] = {
    "a job that is due": enqueueing(JOB),
    "a job that is due soon": enqueueing(SOON_DUE),
    "a job that is due among others": enqueueing(LATER, JOB, LATER),
    "a keyed job that is due soon": enqueueing(replace(SOON_DUE, unique_key="u"), LATER),
    "a job enqueued once": enqueueing_once(SOON_DUE),
    "a run of a fire": completing(LATER, JOB),
    "a keyed run of a fire": completing(replace(JOB, unique_key="u")),
    "a job handed back": changing_to(Enqueued()),
    "a retry that is soon": changing_to(Failed(HOUR), Failed(SECOND)),
    "a snooze that is soon": changing_to(Scheduled(SECOND)),
    "a job that is wanted again": requeueing,
    "a queue that goes on": resuming_a_queue,
}
SILENT: dict[str, Act] = {
    "a job that is planned": enqueueing(LATER),
    "keyed jobs that are planned": enqueueing(replace(LATER, unique_key="u"), LATER),
    "a planned job enqueued once": enqueueing_once(LATER),
    "a run of a fire that is planned": completing(LATER),
    "a keyed run of a fire that is planned": completing(replace(LATER, unique_key="u")),
    "a fire without runs": completing(),
    "a retry that is not soon": changing_to(Failed(HOUR)),
    "a snooze that is not soon": changing_to(Scheduled(HOUR)),
    "a job that has ended": changing_to(Succeeded()),
    "a schedule": registering_a_schedule,
    "a schedule that goes on": resuming_a_schedule,
}


async def rings(where: str, store: PostgresStore, prepare: Act) -> int:
    """How often the act notifies. A notification of the bystander's own comes after all of those."""
    act = await prepare(store)
    with connection(where) as bystander:
        bystander.execute(f"listen {SCHEMA.channel}".encode())
        await act()
        bystander.execute(f"notify {SCHEMA.channel}, 'last'".encode())
        return [notify.payload for notify in bystander.notifies(timeout=SOON, stop_after=1)].count("")


@pytest.mark.parametrize("prepare", RINGS.values(), ids=RINGS)
async def test_what_may_be_claimed_before_a_worker_looks_by_itself_rings(
    where: str, store: PostgresStore, prepare: Act
) -> None:
    assert await rings(where, store, prepare) == 1


@pytest.mark.parametrize("prepare", SILENT.values(), ids=SILENT)
async def test_what_a_worker_finds_in_time_by_itself_is_silent(where: str, store: PostgresStore, prepare: Act) -> None:
    assert await rings(where, store, prepare) == 0


async def test_schemas_do_not_wake_each_other(where: str) -> None:
    other = PostgresStore(where, schema="other")
    await other.open()
    async with listening(where) as (_, wakeups):
        await other.enqueue([JOB])

        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await anext(wakeups)
    await other.close()


async def test_one_connection_listens_however_many_wait(where: str) -> None:
    async with proxy_to(where) as proxy, listening(where, listen=proxy.where) as (store, wakeups):
        async with aclosing(store.wakeups()) as second, aclosing(store.wakeups()) as third:
            await hint(second)
            await hint(third)
            await store.enqueue([JOB])

            await hint(wakeups)
            await hint(second)
            await hint(third)
        assert proxy.connections == 1


async def test_a_killed_connection_is_remade_and_gives_one_hint(where: str) -> None:
    async with listening(where) as (store, wakeups):
        end_connections(where)

        await hint(wakeups)
        await store.enqueue([JOB])
        await hint(wakeups)


async def test_a_peer_that_vanished_without_a_word_is_noticed(where: str) -> None:
    check = timedelta(seconds=0.2)
    async with proxy_to(where) as proxy, listening(where, listen=proxy.where, listen_check=check) as (store, wakeups):
        proxy.silence()
        await store.enqueue([JOB])
        async with asyncio.timeout(SOON):
            while proxy.connections < 2:  # noqa: ASYNC110 - the proxy counts
                await asyncio.sleep(0.02)
        proxy.speak()

        await hint(wakeups)


async def test_an_outage_is_waited_out_told_once_and_ends_with_a_hint(
    where: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with proxy_to(where) as proxy, listening(where, listen=proxy.where) as (store, wakeups):
        proxy.cut(refuse=True)
        await store.enqueue([JOB])
        async with asyncio.timeout(SOON):
            while proxy.connections < 3:  # noqa: ASYNC110 - the proxy counts
                await asyncio.sleep(0.02)
        proxy.mend()

        await hint(wakeups)
    told = [record.getMessage() for record in caplog.records if record.name.endswith("listener")]
    assert ["wakeups are lost" in text for text in told] == [True, False]
    assert told[1].endswith("wakeups are back")


async def test_closing_the_store_ends_the_hints(where: str) -> None:
    store = PostgresStore(where)
    await store.open()
    wakeups = store.wakeups()
    await anext(wakeups)

    await store.close()

    with pytest.raises(StopAsyncIteration):
        await anext(wakeups)


async def test_who_subscribes_again_at_once_is_heard(where: str) -> None:
    async with listening(where) as (store, wakeups):
        for _ in range(5):
            await wakeups.aclose()
            wakeups = store.wakeups()
            await hint(wakeups)
        await store.enqueue([JOB])

        await hint(wakeups)
        await wakeups.aclose()
