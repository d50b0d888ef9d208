"""Many processes on one file: nobody is turned away within the bound, and a killed one leaves no half of a call."""

import asyncio
import os
import signal
import time
from datetime import timedelta
from pathlib import Path

import pytest

from klokka.core.ids import JobId, WorkerId
from klokka.core.records import JobQuery
from klokka.errors import Busy, MisuseError
from klokka.stores.sqlite import Durability, SqliteStore
from tests.support.sqlite_actor import WORK, actor, line

MINUTE = timedelta(minutes=1)
ME = WorkerId("me")


async def test_eight_writers_at_once_all_get_their_turn(path: Path) -> None:
    await SqliteStore(path).migrate()

    async def written() -> list[int]:
        async with actor(path, "writes", 40, 2) as process:
            said = [int(await line(process)) for _ in range(40)]
            assert await line(process) == ""
            return said

    said = await asyncio.gather(*(written() for _ in range(8)))

    assert all(ids == sorted(ids) for ids in said)
    assert sorted(job for ids in said for job in ids) == list(range(2, 642, 2))


async def test_a_writer_killed_at_any_point_leaves_whole_calls(path: Path) -> None:
    store = SqliteStore(path, durability=Durability.PROCESS)
    await store.open()
    async with actor(path, "writes", 100_000, 7) as process:
        for _ in range(25):
            last = int(await line(process))
        process.kill()
        await process.wait()
        assert process.stdout is not None
        last = max([last, *map(int, (await process.stdout.read()).split(b"\n")[:-1])])

    stored = sum((await store.counts_by_status()).values())

    assert stored % 7 == 0
    assert stored >= last
    assert (await store.enqueue([WORK]))[0].id == stored + 1
    await store.close()


async def test_a_claimer_stopped_in_the_middle_holds_up_others_for_the_bound_at_most(path: Path) -> None:
    store = SqliteStore(path, busy_bound=timedelta(milliseconds=300), durability=Durability.PROCESS)
    await store.open()
    await store.enqueue([WORK])
    async with actor(path, "freezes") as process:
        assert await line(process) == "frozen"

        began = time.monotonic()
        with pytest.raises(Busy, match="try again"):
            await store.claim(queues=["default"], kinds=["work"], limit=1, lease=MINUTE, worker=ME)
        waited = time.monotonic() - began
        seen = await store.list_jobs(JobQuery())
        process.send_signal(signal.SIGCONT)
        assert await line(process) == "1"

    assert 0.3 <= waited < 3
    assert len(seen) == 1
    assert await store.claim(queues=["default"], kinds=["work"], limit=1, lease=MINUTE, worker=ME) == []
    await store.close()


async def test_a_claimer_killed_in_the_middle_leaves_its_job_to_others_at_once(path: Path) -> None:
    store = SqliteStore(path)
    await store.open()
    await store.enqueue([WORK])
    async with actor(path, "freezes") as process:
        assert await line(process) == "frozen"
        process.kill()
        await process.wait()

        (claimed,) = await store.claim(queues=["default"], kinds=["work"], limit=1, lease=MINUTE, worker=ME)

    assert (claimed.attempt, claimed.lapses) == (1, 0)
    await store.close()


async def test_each_waits_for_its_own_bound_and_not_for_those_in_front(path: Path) -> None:
    store = SqliteStore(path, busy_bound=timedelta(milliseconds=400))
    await store.open()
    other = store._setting.connect()
    other.execute("begin immediate")

    early = asyncio.ensure_future(store.enqueue([WORK]))
    await asyncio.sleep(0.25)  # the gap between the two bounds is what is measured
    late = asyncio.ensure_future(store.enqueue([WORK]))
    with pytest.raises(Busy):
        await early
    other.execute("rollback")

    assert (await late)[0].created
    other.close()
    await store.close()


async def test_a_reader_that_never_ends_holds_up_no_writer(store: SqliteStore) -> None:
    reader = store._setting.connect()
    reader.execute("begin")
    reader.execute("select count(*) from klokka_jobs").fetchone()

    for _ in range(20):
        await store.enqueue([WORK] * 500)  # beyond what makes SQLite write the log back

    assert reader.execute("select count(*) from klokka_jobs").fetchone() == (0,)
    assert sum((await store.counts_by_status()).values()) == 10_000
    reader.close()


async def test_an_id_never_comes_back_after_its_job_is_gone(store: SqliteStore) -> None:
    first, second = await store.enqueue([WORK, WORK])
    await store.delete(second.id)
    await store.delete(first.id)

    (third,) = await store.enqueue([WORK])

    assert third.id == JobId(3)


async def test_a_store_that_nobody_closed_keeps_no_process_from_ending(path: Path) -> None:
    async with actor(path, "forgets") as process:
        assert await line(process) == "forgot"
        assert await asyncio.wait_for(process.wait(), 20) == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
async def test_a_fork_is_told_to_open_a_handle_of_its_own(store: SqliteStore) -> None:
    child = os.fork()
    if child == 0:
        try:
            store._open_session()
        except MisuseError as error:
            os._exit(0 if "fork" in str(error) else 2)
        finally:
            os._exit(1)

    _, status = await asyncio.to_thread(os.waitpid, child, 0)

    assert os.waitstatus_to_exitcode(status) == 0
