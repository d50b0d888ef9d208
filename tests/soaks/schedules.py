"""Nodes that tick the same schedules while one after the other is killed, frozen for three leases and restarted.

    python -m tests.soaks.schedules [--minutes 1] [--store URL]

Two nodes for the first third of the time, five for the rest, each a process whose own clock is hours off; the store's
clock alone may count. At the end each tick has one job, and where the policy catches up, none is missing. The store is a
SQLite file in a fresh folder unless another is named.
"""

import argparse
import asyncio
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

from klokka.core.ids import ScheduleId
from klokka.core.records import JobQuery, NewJob
from klokka.runtime.bus import EventBus
from klokka.runtime.recurrence import Recurrence
from klokka.runtime.settings import WorkerSettings
from klokka.runtime.signals import run_until_signal
from klokka.runtime.worker import Worker
from klokka.schedules.cron import cron
from klokka.schedules.interval import every
from klokka.schedules.misfire import MOST, CatchUp, FireOnce, MisfirePolicy
from klokka.schedules.schedule import Schedule
from klokka.stores.open import open_store

LEASE: Final = timedelta(seconds=0.5)
SECOND: Final = timedelta(seconds=1)
_ALL: Final = CatchUp(at_most=MOST)


def _recurrence(id: str, schedule: Schedule, misfire: MisfirePolicy) -> Recurrence:
    request = NewJob(kind="soak", payload="{}")
    return Recurrence(id=ScheduleId(id), schedule=schedule, request=request, misfire=misfire)


RECURRENCES: Final = (
    _recurrence("all.second", every(SECOND), _ALL),
    _recurrence("all.half", every(SECOND / 2), _ALL),
    _recurrence("all.cron", cron("*/2 * * * * *", seconds=True), _ALL),
    _recurrence("once.second", every(SECOND), FireOnce(threshold=SECOND)),
)


async def node(url: str, hours: float) -> None:
    """A worker with the schedules and no handler, so that every job stays to be counted."""
    real = time.time
    time.time = lambda: real() + hours * 3600
    store = open_store(url)
    settings = WorkerSettings(lease=LEASE, poll=timedelta(seconds=0.25), grace=timedelta(0))
    print("up", flush=True)
    await run_until_signal(Worker(store, {}, settings, events=EventBus(), schedules=RECURRENCES))
    await store.close()


class Node:
    """A process, and what is done to it."""

    def __init__(self, url: str, number: int) -> None:
        self._command = [sys.executable, "-m", __spec__.name, "--node", str((number - 2) * 3.5), "--store", url]
        self._process = self._start()

    def _start(self) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(self._command, stdout=subprocess.DEVNULL)

    async def kill(self) -> None:
        """Ends it without a word, and starts another in its place."""
        self._process.kill()
        self._process.wait()
        self._process = self._start()

    async def freeze(self) -> None:
        """Stops it for three leases, in the middle of whatever it does."""
        self._process.send_signal(signal.SIGSTOP)
        await asyncio.sleep(3 * LEASE.total_seconds())
        self._process.send_signal(signal.SIGCONT)

    async def restart(self) -> None:
        """Stops it in order, as a deploy does."""
        await asyncio.to_thread(self.stop)
        self._process = self._start()

    def stop(self) -> None:
        """Ends it in order; by force if that takes long."""
        self._process.terminate()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What is wrong, and how many runs there were."""

    faults: list[str]
    runs: int


async def soak(url: str, seconds: float) -> Verdict:
    """Ticks for so long, and judges what is in the store after it."""
    store: Any = open_store(url)
    await store.open()
    nodes: list[Node] = []
    try:
        nodes += [Node(url, number) for number in range(2)]
        await _until_ticking(store)
        began = await store.now()
        await _trouble(nodes, seconds / 3)
        nodes += [Node(url, number) for number in range(2, 5)]
        await _trouble(nodes, 2 * seconds / 3)
        ended = await store.now()
        await _until_decided(store, ended)
    finally:
        await asyncio.gather(*(asyncio.to_thread(node.stop) for node in nodes))
    try:
        return _judge(await store.list_jobs(JobQuery(kind="soak", limit=1_000_000)), began, ended)
    finally:
        await store.close()


async def _until_ticking(store: Any) -> None:
    for _ in range(200):
        if await store.list_jobs(JobQuery(kind="soak", limit=1)):
            return
        await asyncio.sleep(0.1)
    raise AssertionError("no schedule fired within 20 s")


async def _until_decided(store: Any, end: datetime) -> None:
    """Whoever holds a fire at last may have died, and on a busy machine a node is not up in a second."""
    for _ in range(300):
        rows = await store.list_schedules()
        if all(row.next_fire_at is None or row.next_fire_at > end for row in rows):
            return
        await asyncio.sleep(0.1)


async def _trouble(nodes: Sequence[Node], seconds: float) -> None:
    """One thing after the other, to one node after the other."""
    until = time.monotonic() + seconds
    turn = 0
    while time.monotonic() < until:
        victim = nodes[turn % len(nodes)]
        await (victim.kill, victim.freeze, victim.restart)[turn % 3]()
        turn += 1
        await asyncio.sleep(random.uniform(0.2, 1.0))


def _judge(jobs: Sequence[Any], began: datetime, ended: datetime) -> Verdict:
    faults: list[str] = []
    counts = Counter((job.schedule_id, job.run_at) for job in jobs)
    faults += [f"{schedule} has {count} jobs for {tick}" for (schedule, tick), count in counts.items() if count > 1]
    for recurrence in RECURRENCES:
        ticks = {tick for schedule, tick in counts if schedule == recurrence.id}
        expected = recurrence.schedule.next(began)
        while expected is not None and expected <= ended:
            if recurrence.misfire is _ALL and expected not in ticks:
                faults.append(f"{recurrence.id} has no job for {expected}")
            ticks.discard(expected)
            expected = recurrence.schedule.next(expected)
        strange = [tick for tick in ticks if recurrence.schedule.next(tick - SECOND / 1000) != tick]
        faults += [f"{recurrence.id} has a job for {tick}, which is no tick" for tick in strange]
    return Verdict(faults=faults, runs=len(jobs))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--store")
    parser.add_argument("--node", type=float, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.node is not None:
        asyncio.run(node(given.store, given.node))
        return
    with tempfile.TemporaryDirectory() as folder:
        url = given.store or f"sqlite:///{Path(folder) / 'soak.db'}"
        verdict = asyncio.run(soak(url, given.minutes * 60))
    print(f"{verdict.runs} runs, {len(verdict.faults)} faults")
    if verdict.faults:
        raise SystemExit("\n".join(verdict.faults[:50]))


if __name__ == "__main__":
    main()
