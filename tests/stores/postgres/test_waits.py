"""The stated bound is of all that a verb waits for, however many locks there are [enqueue.bounded]."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import ExitStack
from datetime import timedelta

import psycopg
import pytest

from klokka.core.ids import JobId
from klokka.core.records import Change, NewJob
from klokka.core.states import Cancelled, Enqueued
from klokka.errors import Busy
from klokka.stores.postgres.inserts import rendered
from klokka.stores.postgres.schema import Schema
from klokka.stores.postgres.store import PostgresStore
from tests.stores.postgres.test_outages import waiting_for_a_lock
from tests.support.firing import fires

BOUND = 1.0
"""Seconds."""
NEARLY = 0.7 * BOUND
"""A wait that is allowed, and not twice."""
KEYED = [NewJob(kind="k", payload="{}", unique_key=key) for key in "abc"]

Waits = Callable[[str, PostgresStore], Awaitable[object]]


@pytest.fixture
async def store(where: str) -> AsyncGenerator[PostgresStore]:
    store = PostgresStore(where, bound=timedelta(seconds=BOUND))
    await store.open()
    yield store
    await store.close()


async def enqueues(where: str, store: PostgresStore) -> object:
    return await store.enqueue(KEYED)


async def completes_a_fire(where: str, store: PostgresStore) -> object:
    (fire,) = await fires(store, 1)
    return await store.complete_fire(fire.schedule_id, fence=fire.fence, runs=KEYED, next_fire_at=None)


async def enqueues_in_a_transaction(where: str, store: PostgresStore) -> object:
    async with await psycopg.AsyncConnection.connect(where, application_name="klokka") as caller:
        return await store.enqueue_in(caller, KEYED)


async def enqueues_in_a_patient_transaction(where: str, store: PostgresStore) -> object:
    async with await psycopg.AsyncConnection.connect(where, application_name="klokka") as caller:
        await caller.execute("set lock_timeout = '1min'")
        return await store.enqueue_in(caller, KEYED)


@pytest.mark.parametrize(
    "waits",
    [enqueues, completes_a_fire, enqueues_in_a_transaction, enqueues_in_a_patient_transaction],
    ids=lambda waits: waits.__name__,
)
async def test_undecided_keys_are_waited_for_within_one_bound(where: str, store: PostgresStore, waits: Waits) -> None:
    with ExitStack() as stack:
        holders = [holding(stack, where, job) for job in KEYED]
        waiting = asyncio.create_task(waits(where, store))
        await waiting_for_a_lock(where)
        for holder in holders:
            await asyncio.wait([waiting], timeout=NEARLY)
            holder.rollback()

        with pytest.raises(Busy):
            await waiting

    assert sum((await store.counts_by_status()).values()) == 0


@pytest.mark.parametrize("waits", [enqueues, enqueues_in_a_transaction], ids=lambda waits: waits.__name__)
async def test_keys_that_are_decided_within_the_bound_are_no_harm(
    where: str, store: PostgresStore, waits: Waits
) -> None:
    with ExitStack() as stack:
        holders = [holding(stack, where, job) for job in KEYED]
        waiting = asyncio.create_task(waits(where, store))
        for holder in holders:
            await waiting_for_a_lock(where)
            await asyncio.wait([waiting], timeout=BOUND / 6)
            holder.rollback()

        assert await waiting

    assert sum((await store.counts_by_status()).values()) == 3


def holding(stack: ExitStack, where: str, job: NewJob) -> psycopg.Connection[object]:
    """A transaction that has stored the job, and neither commits nor rolls back."""
    holder = stack.enter_context(psycopg.connect(where))
    insert = rendered([job])
    psycopg.RawCursor(holder).execute(Schema("klokka").sql(insert.name), [insert.jobs])
    return holder


async def test_a_transaction_of_ours_waits_within_one_bound(where: str, store: PostgresStore) -> None:
    with ExitStack() as stack:
        first = stack.enter_context(psycopg.connect(where))
        first.execute("insert into klokka.idempotency_keys values ('s', 'k', 't', now() + interval '1 hour')")
        second = holding(stack, where, KEYED[0])
        waiting = asyncio.create_task(store.enqueue_once(KEYED[0], scope="s", key="k", ttl=timedelta(hours=1)))
        await waiting_for_a_lock(where)
        for holder in (first, second):
            await asyncio.wait([waiting], timeout=NEARLY)
            holder.rollback()

        with pytest.raises(Busy):
            await waiting


async def test_changes_in_one_transaction_wait_within_one_bound(where: str, store: PostgresStore) -> None:
    """Reopened jobs whose keys others are about to take: each is refused, and all of them in time."""
    ids = [result.id for result in await store.enqueue(KEYED)]
    for id_ in ids:
        await store.cancel(id_)
    with ExitStack() as stack:
        for job in KEYED:
            holding(stack, where, job)

        answers = await asyncio.wait_for(
            store.transition_many([Change(id=JobId(id_), from_=Cancelled(), to=Enqueued()) for id_ in ids]),
            timeout=2 * BOUND,
        )

    assert answers == [False] * 3


async def test_a_statement_that_is_repeated_waits_no_longer_for_that(where: str, store: PostgresStore) -> None:
    with psycopg.connect(where) as holder, psycopg.connect(where, autocommit=True) as administrator:
        administrator.execute(REPEATED)
        holder.execute("lock table klokka.leases in access exclusive mode")
        waiting = asyncio.create_task(store._database.ask(b"select klokka.fails_once_and_then_waits()"))
        await waiting_for_a_lock(where)
        await asyncio.wait([waiting], timeout=NEARLY)
        holder.rollback()

        with pytest.raises(Busy):
            await waiting


REPEATED = f"""
create sequence klokka.turns;
create function klokka.fails_once_and_then_waits() returns void language plpgsql as $$
begin
    if nextval('klokka.turns') = 1 then
        perform pg_sleep({NEARLY});
        perform klokka.unseen_holder('a');
    end if;
    lock table klokka.leases in share mode;
end
$$
"""
