"""How processes end: by themselves, by their pool, with their worker; and that nothing else goes with them."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from datetime import timedelta
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any

import pytest

from klokka.core.outcomes import Cancel
from klokka.errors import MisuseError, NotRetryable, ProcessFailure
from klokka.runtime.processes import ProcessPool
from tests.support import process_handlers as handlers
from tests.support.processes import Witness, claimed_job, process_handler

LONG = timedelta(seconds=20)


@pytest.fixture
async def pool() -> AsyncIterator[ProcessPool]:
    pool = ProcessPool(2)
    yield pool
    await pool.close(within=LONG)


@pytest.fixture
def witness(tmp_path: Path) -> Iterator[Witness]:
    witness = Witness(tmp_path)
    yield witness
    witness.close()


def start(pool: ProcessPool, run: Callable[..., Any], payload: str = "") -> asyncio.Task[Any]:
    handler = process_handler(run)
    return asyncio.create_task(pool.run(handler, claimed_job(handler, payload)))


async def pid_of_next(pool: ProcessPool) -> int:
    outcome = await start(pool, handlers.tell_pid)
    assert isinstance(outcome, Cancel)
    return int(outcome.reason)


def exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize("run", [handlers.sleep, handlers.hold_the_interpreter, handlers.wait_for_a_program])
async def test_cancelling_ends_the_child_whatever_it_does(
    pool: ProcessPool, witness: Witness, run: Callable[..., Any]
) -> None:
    job = start(pool, run, witness.path)
    pid = await witness.pid_async()

    job.cancel()
    with pytest.raises(asyncio.CancelledError):
        await job

    assert not exists(pid)
    assert await witness.gone_async()


async def test_a_slot_whose_child_was_killed_gets_a_fresh_one(witness: Witness) -> None:
    pool = ProcessPool(1)
    stuck = start(pool, handlers.sleep, witness.path)
    pid = await witness.pid_async()
    waiting = asyncio.create_task(pid_of_next(pool))

    stuck.cancel()

    assert await waiting != pid
    await pool.close(within=LONG)


async def test_cancelling_while_the_child_starts_leaves_nothing(pool: ProcessPool) -> None:
    job = start(pool, handlers.nothing)
    async with asyncio.timeout(10):
        while not pool._children:  # noqa: ASYNC110
            await asyncio.sleep(0)
    (child,) = pool._children

    job.cancel()
    with pytest.raises(asyncio.CancelledError):
        await job

    assert not exists(child._pid)
    assert not pool._children


@pytest.mark.parametrize(
    ("run", "payload", "how"),
    [
        (handlers.exit_at_once, "3", "exit code 3"),
        (handlers.exit_at_once, "0", "exit code 0"),
        (handlers.kill_itself, "SIGKILL", r"signal 9 \(SIGKILL\) .* out of memory"),
        (handlers.kill_itself, "SIGSEGV", r"signal 11 \(SIGSEGV\)"),
    ],
)
async def test_a_child_that_dies_costs_its_job_and_no_other(
    pool: ProcessPool, witness: Witness, run: Callable[..., Any], payload: str, how: str
) -> None:
    neighbour = start(pool, handlers.sleep, witness.path)
    pid = await witness.pid_async()

    with pytest.raises(ProcessFailure, match=how) as caught:
        await start(pool, run, payload)

    assert not isinstance(caught.value, NotRetryable)
    assert exists(pid)
    assert not neighbour.done()
    neighbour.cancel()


async def test_a_fork_that_outlives_the_child_neither_hides_its_death_nor_is_deaf(
    pool: ProcessPool, witness: Witness
) -> None:
    with pytest.raises(ProcessFailure, match="exit code 4"):
        await start(pool, handlers.fork_and_die, witness.path)

    os.kill(await witness.pid_async(), signal.SIGTERM)
    assert await witness.gone_async()


async def test_a_child_that_died_while_idle_costs_no_job(pool: ProcessPool) -> None:
    pid = await pid_of_next(pool)
    (child,) = pool._children

    os.kill(pid, signal.SIGKILL)
    await asyncio.wait_for(asyncio.shield(child.life), 10)

    assert await pid_of_next(pool) != pid
    assert child not in pool._children


async def test_a_third_job_waits_for_one_of_two_slots(pool: ProcessPool, tmp_path: Path) -> None:
    first, second = Witness(tmp_path, "first"), Witness(tmp_path, "second")
    busy = [start(pool, handlers.sleep, first.path), start(pool, handlers.sleep, second.path)]
    pids = {await first.pid_async(), await second.pid_async()}
    third = asyncio.create_task(pid_of_next(pool))
    await asyncio.sleep(0)

    assert len(pids) == 2
    assert len(pool._children) == 2
    assert not third.done()
    busy[0].cancel()
    assert await third not in pids
    busy[1].cancel()
    await asyncio.wait(busy)
    first.close()
    second.close()


async def test_close_ends_the_idle_and_the_stuck_and_leaves_nothing_open(witness: Witness) -> None:
    resource_tracker.ensure_running()  # Python's own, and stays
    before = open_descriptors()
    pool = ProcessPool(2)
    idle = await pid_of_next(pool)
    stuck = start(pool, handlers.hold_the_interpreter, witness.path)
    other = await pid_of_next(pool) if await witness.pid_async() == idle else idle

    await pool.close(within=LONG)
    await pool.close(within=LONG)

    with pytest.raises(ProcessFailure, match="its pool was closed"):
        await stuck
    assert await witness.gone_async()
    assert not exists(idle)
    assert not exists(other)
    assert open_descriptors() == before


async def test_an_idle_child_that_does_not_end_is_killed_after_the_wait(pool: ProcessPool) -> None:
    pid = await pid_of_next(pool)
    os.kill(pid, signal.SIGSTOP)

    await pool.close(within=timedelta(milliseconds=50))

    assert not exists(pid)


async def test_a_closed_pool_takes_no_jobs(pool: ProcessPool) -> None:
    await pool.close(within=LONG)

    with pytest.raises(MisuseError, match="closed"):
        await start(pool, handlers.nothing)


def test_children_end_with_a_worker_that_was_killed(tmp_path: Path) -> None:
    watched, stuck = Witness(tmp_path, "watched"), Witness(tmp_path, "stuck")
    worker = subprocess.Popen([sys.executable, "-m", "tests.support.process_worker", watched.path, stuck.path])
    watched.pid()
    stuck.pid()

    worker.kill()
    worker.wait(10)

    assert watched.gone()
    assert stuck.gone()
    watched.close()
    stuck.close()


def test_an_interpreter_that_leaves_its_pool_open_still_ends(tmp_path: Path) -> None:
    program = (
        "import asyncio\n"
        "from tests.support import processes, process_handlers\n"
        "from klokka.runtime.processes import ProcessPool\n"
        "async def main():\n"
        "    handler = processes.process_handler(process_handlers.nothing)\n"
        "    globals()['pool'] = pool = ProcessPool(1)\n"
        "    await pool.run(handler, processes.claimed_job(handler))\n"
        "    print('done')\n"
        "loop = asyncio.new_event_loop()\n"
        "loop.run_until_complete(main())\n"
    )

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=30, check=False)

    assert done.stdout == "done\n"


def open_descriptors() -> int:
    return len(list(Path("/dev/fd").iterdir()))
