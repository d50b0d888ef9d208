"""A handle lives on one loop, ends cleanly, and outlives callers who lose patience."""

import asyncio
import gc
import threading
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import pytest

from klokka.core.ids import WorkerId
from klokka.core.records import NewJob
from klokka.errors import MisuseError, StoreUnavailable, UniqueConflict, UnknownOutcome
from klokka.spi.batch import BatchingStore
from klokka.spi.fleet import FleetStore
from klokka.spi.keys import EnqueueOnceStore, IdempotencyStore, LeaseStore
from klokka.spi.life import MigratableStore
from klokka.spi.operate import OperableStore, ProgressStore
from klokka.spi.query import QueryableStore
from klokka.spi.transactions import SyncTransactionalStore, TransactionalStore
from klokka.spi.wakeups import PushCapableStore
from klokka.stores.sqlite import SqliteStore

WORK = NewJob(kind="work", payload="{}")
MINUTE = timedelta(minutes=1)


def open_files(path: Path) -> list[str]:
    """What this process holds open of the store's."""
    found: list[str] = []
    for descriptor in Path("/proc/self/fd").iterdir():
        with suppress(OSError):
            found.append(str(descriptor.readlink()))
    return [name for name in found if name.startswith(str(path))]


def names(directory: Path) -> list[str]:
    return sorted(entry.name for entry in directory.iterdir())


def threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("klokka-")]


def test_the_capabilities_are_found_by_type(path: Path) -> None:
    store = SqliteStore(path)

    for capability in (
        BatchingStore,
        FleetStore,
        IdempotencyStore,
        EnqueueOnceStore,
        LeaseStore,
        MigratableStore,
        OperableStore,
        ProgressStore,
        QueryableStore,
        SyncTransactionalStore,
        PushCapableStore,
    ):
        assert isinstance(store, capability)
    assert not isinstance(store, TransactionalStore)


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="no /proc here")
async def test_nothing_remains_open_after_closing(path: Path) -> None:
    before = threads()
    store = SqliteStore(path)
    await store.open()
    hints = store.wakeups()
    await anext(hints)
    waiting = asyncio.ensure_future(anext(hints))
    await store.enqueue([WORK])
    await waiting
    assert open_files(path)

    await store.close()

    with pytest.raises(StopAsyncIteration):
        await anext(hints)
    assert open_files(path) == []
    assert threads() == before
    assert names(path.parent) == ["jobs.db"]


async def test_closing_lets_what_is_under_way_finish(path: Path) -> None:
    store = SqliteStore(path)
    await store.open()
    calls = [asyncio.ensure_future(store.enqueue([WORK])) for _ in range(100)]
    await asyncio.sleep(0)

    await store.close()

    assert len({(await call)[0].id for call in calls}) == 100


async def test_a_closed_handle_refuses_verbs_and_opens_again(path: Path) -> None:
    store = SqliteStore(path)
    await store.open()
    await store.open()
    await store.close()
    await store.close()

    with pytest.raises(MisuseError, match="not open"):
        await store.enqueue([WORK])
    await store.open()

    assert (await store.enqueue([WORK]))[0].created
    await store.close()


async def test_a_handle_that_failed_to_open_holds_nothing_and_may_try_again(tmp_path: Path) -> None:
    before = threads()
    directory = tmp_path / "later"
    store = SqliteStore(directory / "jobs.db")

    results = await asyncio.gather(store.open(), store.open(), return_exceptions=True)

    assert all(isinstance(result, Exception) for result in results)
    assert threads() == before
    await asyncio.to_thread(directory.mkdir)
    await store.open()
    await store.close()


def test_a_handle_belongs_to_its_loop_until_it_is_closed(path: Path) -> None:
    store = SqliteStore(path)
    with asyncio.Runner() as first, asyncio.Runner() as second:
        first.run(store.open())
        for verb in (store.open, store.close, store.now):
            with pytest.raises(MisuseError, match="another event loop"):
                second.run(verb())
        first.run(store.close())

        second.run(store.open())

        assert second.run(store.enqueue([WORK]))[0].created
        second.run(store.close())


async def test_a_further_handle_sees_the_same_data(store: SqliteStore) -> None:
    (enqueued,) = await store.enqueue([WORK])
    further = store.new_handle()

    await further.open()

    assert await further.get_job(enqueued.id) is not None
    assert further.traits == store.traits
    await further.close()


async def test_a_cancelled_verb_happens_whole_or_not_at_all(store: SqliteStore) -> None:
    calls = [asyncio.ensure_future(store.enqueue([WORK] * 3)) for _ in range(60)]
    await asyncio.sleep(0)
    for call in calls[::2]:
        call.cancel()
    results = await asyncio.gather(*calls, return_exceptions=True)

    finished = sum(isinstance(result, list) for result in results)
    stored = sum((await store.counts_by_status()).values())

    assert stored % 3 == 0
    assert 30 <= finished <= stored // 3 <= 60


async def test_a_cancelled_opening_leaves_no_thread(path: Path) -> None:
    before = threads()
    store = SqliteStore(path)
    opening = asyncio.ensure_future(store.open())
    await asyncio.sleep(0)

    opening.cancel()

    with pytest.raises(asyncio.CancelledError):
        await opening
    assert threads() == before
    gc.collect()


async def test_of_verbs_that_share_a_commit_each_fails_alone(store: SqliteStore) -> None:
    keyed = NewJob(kind="work", payload="{}", unique_key="one")
    await store.enqueue([keyed])

    results = await asyncio.gather(
        *(store.enqueue([WORK]) for _ in range(5)),
        store.enqueue_once(keyed, scope="s", key="k", ttl=MINUTE),
        *(store.enqueue([WORK]) for _ in range(5)),
        return_exceptions=True,
    )

    assert [type(result) for result in results] == [list] * 5 + [UniqueConflict] + [list] * 5
    assert sum((await store.counts_by_status()).values()) == 11
    assert await store.claim_key("s", "k", MINUTE) is not None


async def test_a_verb_that_ends_the_shared_transaction_spoils_no_other(store: SqliteStore) -> None:
    def burst(tx: object) -> None:
        tx.execute("rollback")  # type: ignore[attr-defined]  # as SQLite itself does when the disk is full
        raise ValueError("burst")

    results = await asyncio.gather(
        store.enqueue([WORK]), store._write(burst), store.enqueue([WORK]), return_exceptions=True
    )

    assert [type(result) for result in results] == [list, ValueError, list]
    assert sum((await store.counts_by_status()).values()) == 2


async def test_a_failure_around_the_verbs_reaches_whoever_waits_and_the_store_goes_on(store: SqliteStore) -> None:
    def tear(tx: object) -> None:
        tx.execute("release verb")  # type: ignore[attr-defined]  # what frames the verbs fails, as on a dying disk

    begun, gathered = threading.Event(), threading.Event()

    def hold(tx: object) -> None:
        begun.set()
        gathered.wait(20)

    first = store._write(hold)
    await asyncio.to_thread(begun.wait, 20)
    torn = asyncio.gather(store.enqueue([WORK]), store._write(tear), store.enqueue([WORK]), return_exceptions=True)
    await asyncio.sleep(0)  # the three stand in line
    gathered.set()
    results = await asyncio.wait_for(torn, 20)
    await first

    assert [type(result) for result in results] == [UnknownOutcome] * 3
    assert sum((await store.counts_by_status()).values()) == 0
    assert (await asyncio.wait_for(store.enqueue([WORK]), 20))[0].created


async def test_more_kinds_than_one_statement_takes_are_claimed_in_one_order(store: SqliteStore) -> None:
    kinds = [f"kind{number}" for number in range(250)]
    await store.enqueue([NewJob(kind=kind, payload="{}") for kind in kinds])

    claimed = await store.claim(queues=["default"], kinds=kinds[::-1], limit=230, lease=MINUTE, worker=WorkerId("me"))

    assert [job.id for job in claimed] == list(range(1, 231))


def suffer(path: Path, fate: str) -> None:
    match fate:
        case "deleted":
            path.unlink()
        case "moved":
            path.rename(path.with_name("elsewhere.db"))
        case _:
            path.with_name("other.db").touch()
            path.with_name("other.db").replace(path)


@pytest.mark.parametrize("fate", ["deleted", "moved", "replaced"])
async def test_a_file_that_has_gone_from_its_path_acknowledges_nothing(
    store: SqliteStore, path: Path, fate: str
) -> None:
    await store.enqueue([WORK])
    suffer(path, fate)

    with pytest.raises(StoreUnavailable, match=r"moved, deleted or replaced .* Nothing was written"):
        await store.enqueue([WORK])


async def test_a_store_whose_file_was_replaced_works_again_once_it_is_opened_anew(
    store: SqliteStore, path: Path
) -> None:
    suffer(path, "deleted")
    with pytest.raises(StoreUnavailable):
        await store.enqueue([WORK])

    await store.close()
    await store.open()

    assert (await store.enqueue([WORK]))[0].created
