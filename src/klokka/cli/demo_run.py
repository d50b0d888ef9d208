"""One demonstration: producer, two workers, a murder, and the books at the end."""

import asyncio
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from rich.console import Console

from klokka.app.capability import capable
from klokka.cli import demo_app
from klokka.cli.demo_ledger import Ledger, close_books
from klokka.cli.demo_view import View
from klokka.cli.demo_work import produce
from klokka.cli.source import without_password
from klokka.cli.supervisor import Supervisor
from klokka.core.durations import spell
from klokka.core.ids import JobId
from klokka.core.states import TERMINAL, JobStatus
from klokka.spi.query import QueryableStore
from klokka.spi.store import JobStore
from klokka.stores.open import open_store

WORKERS = 2
VICTIM = 1
KILLED_AT = 0.4
"""The part of the jobs that have ended when a worker is killed."""
PATIENCE = timedelta(minutes=2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What to run on, where the workers note their starts, and how many jobs."""

    url: str
    notes: Path
    jobs: int

    async def to_the_end(self, console: Console) -> Ledger:
        """The ledger, once every job has ended or `PATIENCE` is over; what has not ended by then counts as lost."""
        store = open_store(self.url)
        books = capable(store, QueryableStore, "klokka demo")
        await store.open()
        try:
            acknowledged: set[JobId] = set()
            before = await books.counts_by_status()
            with View(console, self.jobs) as view:
                await self._work(store, books, view, before, acknowledged)
            return await close_books(books, acknowledged, self.notes)
        finally:
            await store.close()

    async def _work(
        self,
        store: JobStore,
        books: QueryableStore,
        view: View,
        before: Mapping[JobStatus, int],
        acknowledged: set[JobId],
    ) -> None:
        workers = Supervisor(
            [sys.executable, "-m", "klokka", "worker", f"{demo_app.__name__}:app"],
            places=WORKERS,
            environment={demo_app.STORE: self.url, demo_app.STARTS: str(self.notes)},
            told=view.tell,
        )
        view.tell(f"{WORKERS} workers start on {without_password(self.url)}")
        await workers.start()
        producer = asyncio.create_task(produce(store, self.jobs, acknowledged))
        try:
            async with asyncio.timeout(PATIENCE.total_seconds()):
                await self._watch(books, view, workers, before)
                await producer
        except TimeoutError:
            view.tell(f"{spell(PATIENCE)} are over, and not every job has ended")
        finally:
            producer.cancel()
            await workers.stop(timedelta(seconds=5))

    async def _watch(
        self, books: QueryableStore, view: View, workers: Supervisor, before: Mapping[JobStatus, int]
    ) -> None:
        killed = False
        ended = 0
        while ended < self.jobs:
            now = await books.counts_by_status()
            counts = {status: now[status] - before[status] for status in JobStatus}
            ended = sum(counts[status] for status in TERMINAL)
            view.show(counts, workers.pids)
            if not killed and ended >= self.jobs * KILLED_AT and VICTIM in workers.pids:
                killed = True
                view.tell(f"kill -9 worker {VICTIM} (pid {workers.kill(VICTIM)}); its leases end, another takes over")
            await asyncio.sleep(0.1)
