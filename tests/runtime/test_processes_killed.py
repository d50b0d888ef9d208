"""Workers in processes of their own, over one SQLite file: killed, frozen and told to stop."""

import asyncio
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from klokka.core.ids import WorkerId
from klokka.core.policies import Exponential
from klokka.core.states import JobStatus
from klokka.errors import Busy
from klokka.runtime.context import JobContext
from klokka.stores.open import open_store
from tests.support.working import LONG, enqueue, handler, status, working

LEASE = timedelta(seconds=0.6)
ROOT = Path(__file__).parents[2]


class Child:
    """One such worker."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    async def says(self, *lines: str) -> None:
        """Returns when it has said all of these, in any order and with others between."""
        wanted = set(lines)
        assert self._process.stdout is not None
        async with asyncio.timeout(LONG):
            while wanted:
                line = await self._process.stdout.readline()
                assert line, f"it ended and never said {wanted}"
                wanted.discard(line.decode().strip())

    def send(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    async def freeze(self, store: Any) -> None:
        """Stops it at a moment when it does not hold the writer's place, which nobody could take from it."""
        while True:
            self.send(signal.SIGSTOP)
            try:
                await enqueue(store, None, kind="probe")
            except Busy:
                self.send(signal.SIGCONT)
            else:
                return

    async def ended(self) -> int:
        return await asyncio.wait_for(self._process.wait(), LONG)

    async def end(self) -> None:
        with suppress(ProcessLookupError):
            self._process.kill()
        await self._process.wait()


class Fleet:
    """Starts workers over one file, and sees that none outlives its test."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._children: list[Child] = []

    async def start(self, lease: timedelta = LEASE) -> Child:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "tests.support.killable", str(self._file), str(lease.total_seconds())),
            stdout=asyncio.subprocess.PIPE,
            cwd=ROOT,
        )
        child = Child(process)
        self._children.append(child)
        await child.says("up")
        return child

    async def end(self) -> None:
        for child in self._children:
            await child.end()


@pytest.fixture
async def file(tmp_path: Path) -> Path:
    return tmp_path / "jobs.db"


@pytest.fixture
async def shared(file: Path) -> AsyncGenerator[Any]:
    store = open_store(f"sqlite:///{file}")
    await store.open()
    yield store
    await store.close()


@pytest.fixture
async def fleet(file: Path, shared: Any) -> AsyncGenerator[Fleet]:
    fleet = Fleet(file)
    yield fleet
    await fleet.end()


async def test_a_frozen_worker_that_wakes_leaves_the_new_owner_undisturbed(shared: Any, fleet: Fleet) -> None:
    begun, go = asyncio.Event(), asyncio.Event()

    async def theirs(payload: Any, job: JobContext) -> None:
        begun.set()
        await go.wait()

    [job_id] = await enqueue(shared, 3600, kind="hold")
    child = await fleet.start()
    await child.says(f"began {job_id}")
    await child.freeze(shared)
    async with working(shared, handler(theirs, kind="hold", retry=Exponential())):
        await asyncio.wait_for(begun.wait(), LONG)
        child.send(signal.SIGCONT)
        await child.says(f"cancelled {job_id}")
        owner = await shared.get_job(job_id)
        go.set()
        details = await status(shared, job_id, JobStatus.SUCCEEDED)

    assert owner.summary.status is JobStatus.RUNNING
    assert (details.summary.attempt, details.lapses) == (2, 1)


async def test_what_a_killed_worker_held_is_run_by_another_when_the_leases_end(shared: Any, fleet: Fleet) -> None:
    async def theirs(payload: Any, job: JobContext) -> None: ...

    ids = await enqueue(shared, *[3600] * 4, kind="hold")
    child = await fleet.start()
    await child.says(*(f"began {each}" for each in ids))
    child.send(signal.SIGKILL)

    async with working(shared, handler(theirs, kind="hold", retry=Exponential())):
        found = [await status(shared, each, JobStatus.SUCCEEDED) for each in ids]

    assert {(details.summary.attempt, details.lapses) for details in found} == {(2, 1)}


async def test_a_job_that_kills_its_worker_ends_in_the_dead_letters_and_its_neighbours_do_not(
    shared: Any, fleet: Fleet
) -> None:
    neighbours = await enqueue(shared, *range(5), kind="quick")
    [killer] = await enqueue(shared, 1, kind="kill", unique_key="k")

    for _ in range(2):
        child = await fleet.start()
        await child.says(f"began {killer}")
        assert await child.ended() == -signal.SIGKILL
    await fleet.start()
    details = await status(shared, killer, JobStatus.DEAD_LETTERED)

    assert "lost with its worker 2 times" in details.last_error.message
    for each in neighbours:
        await status(shared, each, JobStatus.SUCCEEDED)


async def test_a_job_outlives_the_signal_to_stop_and_is_taken_by_nobody_else(shared: Any, fleet: Fleet) -> None:
    lease = timedelta(seconds=1.2)
    [job_id] = await enqueue(shared, 2.5 * lease.total_seconds(), kind="hold")
    child = await fleet.start(lease)
    await child.says(f"began {job_id}")

    child.send(signal.SIGTERM)
    stolen: list[Any] = []
    for _ in range(25):
        stolen += await shared.claim(queues=["default"], kinds=["hold"], limit=1, lease=LEASE, worker=WorkerId("thief"))
        await asyncio.sleep(lease.total_seconds() / 10)
    await child.says("down")

    assert await child.ended() == 0
    assert stolen == []
    assert (await status(shared, job_id, JobStatus.SUCCEEDED)).summary.attempt == 1


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_second_signal_forces_the_stop(shared: Any, fleet: Fleet, number: signal.Signals) -> None:
    [job_id] = await enqueue(shared, 3600, kind="hold")
    child = await fleet.start()
    await child.says(f"began {job_id}")

    child.send(number)
    await asyncio.sleep(0.2)
    child.send(number)
    await child.says(f"cancelled {job_id}", "down")

    assert await child.ended() == 0
    assert (await status(shared, job_id, JobStatus.ENQUEUED)).summary.attempt == 1
