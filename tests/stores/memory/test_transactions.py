"""What the kit does not ask of the memory store's own transactions and handles."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import suppress

import pytest

from klokka.core.clocks import ManualClock
from klokka.core.ids import JobId
from klokka.core.records import NewJob
from klokka.errors import MisuseError, WrongTransaction
from klokka.stores.memory.store import MemoryStore


async def opened() -> MemoryStore:
    store = MemoryStore(clock=ManualClock())
    await store.open()
    return store


def job(key: str | None = None) -> NewJob:
    return NewJob(kind="a.b", payload="{}", unique_key=key)


async def test_a_failed_transaction_rolls_back_instead_of_committing() -> None:
    store = await opened()

    tx = store.begin()
    await store.enqueue_in(tx, [job("k")])
    tx.fail()

    with pytest.raises(MisuseError, match="failed"):
        tx.commit()

    assert (await store.enqueue([job("k")]))[0].created


async def test_a_failed_transaction_takes_no_more_jobs() -> None:
    store = await opened()
    tx = store.begin()
    tx.fail()

    with pytest.raises(WrongTransaction, match="failed"):
        await store.enqueue_in(tx, [job()])


async def test_a_savepoint_that_is_undone_mends_a_failure_within() -> None:
    store = await opened()

    with store.begin() as tx:
        with suppress(ZeroDivisionError), tx.savepoint():
            await store.enqueue_in(tx, [job("k")])
            tx.fail()
            raise ZeroDivisionError
        (result,) = await store.enqueue_in(tx, [job("k")])

    assert await store.get_job(result.id) is not None


async def test_a_transaction_ends_once() -> None:
    store = await opened()
    tx = store.begin()
    await store.enqueue_in(tx, [job()])
    tx.commit()
    tx.rollback()

    with pytest.raises(MisuseError, match="ended"):
        tx.commit()

    assert sum((await store.counts_by_status()).values()) == 1


async def test_a_transaction_may_be_committed_within_its_block() -> None:
    store = await opened()

    with store.begin() as tx:
        await store.enqueue_in(tx, [job()])
        tx.commit()

    assert sum((await store.counts_by_status()).values()) == 1


async def test_another_stores_transaction_is_refused() -> None:
    store, other = await opened(), await opened()

    with other.begin() as tx, pytest.raises(WrongTransaction, match="another memory store"):
        await store.enqueue_in(tx, [job()])


async def test_ids_of_a_rolled_back_transaction_are_not_given_again() -> None:
    store = await opened()
    tx = store.begin()
    (gone,) = await store.enqueue_in(tx, [job()])
    tx.rollback()

    (result,) = await store.enqueue([job()])

    assert result.id > gone.id
    assert await store.get_job(JobId(gone.id)) is None


async def test_verbs_on_another_loop_are_refused() -> None:
    store = await opened()

    with pytest.raises(MisuseError, match="another event loop"):
        await asyncio.to_thread(asyncio.run, store.now())


async def test_a_ring_for_a_loop_that_is_gone_is_lost_and_no_error() -> None:
    store = await opened()

    def subscribe_and_leave() -> None:
        async def subscribe() -> None:
            handle = store.new_handle()
            await handle.open()
            kept.append(handle.wakeups())
            await anext(kept[0])

        loop = asyncio.new_event_loop()
        loop.run_until_complete(subscribe())
        loop.close()

    kept: list[AsyncGenerator[None]] = []
    await asyncio.to_thread(subscribe_and_leave)

    assert (await store.enqueue([job()]))[0].created
