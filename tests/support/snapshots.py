"""A store beside a snapshot that somebody holds, which keeps every dead entry of the indexes in its place."""

import asyncio
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import psycopg
import pytest

from klokka.core.ids import JobId, WorkerId
from klokka.core.records import ClaimedJob, NewJob
from klokka.stores.postgres.floors import Floors
from klokka.stores.postgres.looking_back import LookingBack
from klokka.stores.postgres.store import PostgresStore
from tests.support.postgres import connection
from tests.support.working import until

MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
MOMENT = timedelta(milliseconds=1)
WORKER = WorkerId("w")

RUN_THROUGH = (
    """
    insert into klokka.jobs (
        enqueued_at, scheduled_for, run_at, due_at, payload_version, queue, kind, payload, status
    )
    select at, at, at, at, 1, queue, kind, '{}', 'enqueued'
    from
        generate_series(1, %(number)s) as n,
        unnest(%(queues)s::text[]) as queue,
        unnest(array['k', 'l']) as kind,
        lateral (select now() - interval '1 day' + n * interval '1 millisecond' as at) as times
    """,
    "update klokka.jobs set status = 'running', due_at = null, lease_until = now() - interval '2 hours', holder = 'w'",
    "update klokka.jobs set status = 'succeeded', lease_until = null, holder = null, terminal_at = now()",
)


@dataclass
class Beside:
    """A store beside a held snapshot, and the clock by which it looks back."""

    where: str
    store: PostgresStore
    holder: psycopg.Connection[Any]
    time: float = 0.0
    queues: tuple[str, ...] = ("default",)

    def run_through(self, number: int) -> None:
        """Leaves the remains of so many jobs of each of two kinds in each queue."""
        with connection(self.where) as others:
            for statement in RUN_THROUGH:
                others.execute(statement.encode(), {"number": number, "queues": list(self.queues)})

    async def claim(
        self, limit: int, *, kinds: tuple[str, ...] = ("k",), lease: timedelta = MINUTE, **caps: int
    ) -> list[ClaimedJob]:
        return await self.store.claim(
            queues=self.queues, kinds=kinds, limit=limit, lease=lease, worker=WORKER, caps=caps
        )

    async def ids(self, limit: int, **more: Any) -> list[JobId]:
        return [job.id for job in await self.claim(limit, **more)]

    async def enqueue(self, number: int, *, ago: timedelta, kind: str = "k", queue: str = "default") -> list[JobId]:
        new = NewJob(kind=kind, queue=queue, payload="1", run_at=await self.store.now() - ago)
        return [result.id for result in await self.store.enqueue([new] * number)]

    def holds_up_looks_back(
        self, patch: pytest.MonkeyPatch, *, error: Exception | None = None
    ) -> Callable[[], Awaitable[object]]:
        """Until the function is called that comes back; or each ends with the error."""
        session = self.store._open_session()
        read, arrived = session.database.read, asyncio.Event()

        async def held(name: str, *parameters: str | None) -> Any:
            if name == "left_behind":
                if error is not None:
                    raise error
                await arrived.wait()
            return await read(name, *parameters)

        async def arrives() -> None:
            arrived.set()
            task = session.looking_back._task
            assert task is not None
            await task

        patch.setattr(session.database, "read", held)
        return arrives

    def entries_read(self) -> int:
        """Of the indexes that claims read, by whoever has disconnected."""
        with connection(self.where) as others:
            query = "select sum(idx_tup_read) from pg_stat_user_indexes where indexrelname = any(%s)"
            (number,) = others.execute(query, [["jobs_due", "jobs_leased"]]).fetchone() or (0,)
        return int(number)

    async def sessions_are_gone(self) -> None:
        """Returns when the store's sessions have told what they read."""
        query = "select from pg_stat_activity where datname = current_database() and application_name = 'klokka'"
        with connection(self.where) as others:
            await until(lambda: others.execute(query).fetchone() is None, "the sessions to end")

    async def passed(self) -> list[JobId]:
        """Claims that have learnt where to begin: the ids of the jobs that still wait there."""
        self.run_through(1_100)
        ids = await self.enqueue(9, ago=MINUTE)
        assert await self.ids(3) == ids[:3]
        assert await self.ids(3) == ids[3:6]
        return ids[6:]


def looks_back_by(store: PostgresStore, clock: Callable[[], float]) -> None:
    """Lets an open store look back by another clock."""
    session = store._open_session()
    session.floors = Floors(clock)
    session.looking_back = LookingBack(session.database, session.floors)


@contextmanager
def beside_a_snapshot(where: str, store: PostgresStore) -> Generator[Beside]:
    """An open store beside a snapshot that sees every row as it was, with a clock that the test moves."""
    with psycopg.connect(where) as holder:
        holder.execute("set transaction isolation level repeatable read")
        holder.execute("select count(*) from klokka.jobs")
        beside = Beside(where, store, holder)
        looks_back_by(store, lambda: beside.time)
        yield beside
