"""Stores that look first and act later, on real threads and connections, and wakeups that come at the wrong moment."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from functools import partial
from typing import Any

from klokka.core.clocks import ManualClock
from klokka.core.ids import Fence, JobId, KeyToken, ScheduleId
from klokka.core.records import EnqueueResult, NewJob, RetentionPolicy, SweepReport
from klokka.stores.memory.store import MemoryStore
from klokka.stores.sqlite import keys, schedules, sweeps
from klokka.stores.sqlite.store import SqliteStore
from klokka.stores.sqlite.transaction import Transaction
from klokka.tck.subject import Subject
from tests.tck.saboteurs.registry import BOUND, PATIENCE, breaks

NOBODY = (
    "update klokka_jobs set status = 'enqueued', due_at = enqueued_at, lease_until = null, holder = null where id = ?"
)


async def _pause() -> None:
    """Where another connection may come between, as it does between two statements that are no transaction."""
    await asyncio.sleep(0.002)


@breaks("claim.exclusive")
class SelectsAndThenClaims(SqliteStore):
    async def claim(self, **arguments: Any) -> Any:
        def look(tx: Transaction) -> list[int]:
            return [one for (one,) in tx.execute("select id from klokka_jobs where due_at is not null")]

        free = await self._read(look)
        await _pause()
        await self._write(lambda tx: tx.executemany(NOBODY, [(one,) for one in free]))
        return await super().claim(**arguments)


@breaks("enqueue.unique-race")
class LooksForTheKeyAndThenInserts(SqliteStore):
    async def enqueue(self, jobs: Sequence[NewJob]) -> list[EnqueueResult]:
        wanted = [job.unique_key for job in jobs if job.unique_key is not None]

        def look(tx: Transaction) -> list[str]:
            held = "select 1 from klokka_jobs where unique_key = ? and terminal_at is null"
            return [key for key in wanted if tx.value(held, (key,)) is None]

        free = await self._read(look)
        await _pause()
        forget = "update klokka_jobs set unique_key = null where unique_key = ?"
        await self._write(lambda tx: tx.executemany(forget, [(key,) for key in free]))
        return await super().enqueue(jobs)


@breaks("transition.once")
class ReadsTheStateAndThenWrites(SqliteStore):
    async def transition(self, id: JobId, **arguments: Any) -> bool:
        before = await self.get_job(id)
        await _pause()
        applied = await super().transition(id, **arguments)
        return applied or (
            before is not None and before.summary.status.value == type(arguments["from_"]).__name__.lower()
        )


@breaks("key.once")
class LooksForTheRecordAndThenWrites(SqliteStore):
    async def claim_key(self, scope: str, key: str, ttl: timedelta) -> KeyToken | None:
        def look(tx: Transaction) -> bool:
            held = "select 1 from klokka_keys where scope = ? and key = ? and expires_at > ?"
            return tx.value(held, (scope, key, tx.now())) is None

        if not await self._read(look):
            return None
        await _pause()

        def take(tx: Transaction) -> KeyToken | None:
            tx.execute("delete from klokka_keys where scope = ? and key = ?", (scope, key))
            return keys.claim_key(tx, scope=scope, key=key, ttl=ttl)

        return await self._write(take)


@breaks("lease.one")
class LooksForTheOwnerAndThenTakes(SqliteStore):
    async def acquire_lease(self, name: str, owner: str, ttl: timedelta) -> Fence | None:
        def look(tx: Transaction) -> bool:
            held = "select 1 from klokka_leases where name = ? and owner <> ? and lease_until > ?"
            return tx.value(held, (name, owner, tx.now())) is None

        if not await self._read(look):
            return None
        await _pause()

        def take(tx: Transaction) -> Fence | None:
            tx.execute("update klokka_leases set owner = ? where name = ?", (owner, name))
            return keys.acquire_lease(tx, name=name, owner=owner, ttl=ttl)

        return await self._write(take)


@breaks("schedule.due")
class LooksForFiresAndThenClaimsThem(SqliteStore):
    async def due_schedules(self, **arguments: Any) -> Any:
        def look(tx: Transaction) -> list[str]:
            now = tx.now()
            due = (
                "select id from klokka_schedules where next_fire_at <= ? and (lease_until is null or lease_until <= ?)"
            )
            return [one for (one,) in tx.execute(due, (now, now))]

        free = await self._read(look)
        await _pause()

        def take(tx: Transaction) -> Any:
            tx.executemany("update klokka_schedules set lease_until = null where id = ?", [(one,) for one in free])
            return schedules.due_schedules(tx, **arguments)

        return await self._write(take)


@breaks("schedule.complete")
class ReadsTheFenceAndThenCompletes(SqliteStore):
    async def complete_fire(self, schedule_id: ScheduleId, **arguments: Any) -> Any:
        def look(tx: Transaction) -> Any:
            return tx.value(
                "select fence from klokka_schedules where id = ? and lease_until is not null", (schedule_id,)
            )

        if await self._read(look) != arguments["fence"]:
            return None
        await _pause()

        def complete(tx: Transaction) -> Any:
            back = "update klokka_schedules set fence = ?, lease_until = coalesce(lease_until, 0) where id = ?"
            tx.execute(back, (arguments["fence"], schedule_id))
            return schedules.complete_fire(tx, schedule_id=schedule_id, **arguments)

        return await self._write(complete)


@breaks("sweep.retention")
class ListsWhatIsOldAndThenDeletes(SqliteStore):
    async def sweep(self, retention: RetentionPolicy, *, limit: int = 1000) -> SweepReport:
        def look(tx: Transaction) -> list[int]:
            return [one for (one,) in tx.execute("select id from klokka_jobs where terminal_at < ?", (tx.now(),))]

        old = await self._read(look)
        await _pause()
        report = await self._write(partial(sweeps.sweep, retention=retention, limit=limit))
        await self._write(lambda tx: tx.executemany("delete from klokka_jobs where id = ?", [(one,) for one in old]))
        return report


@breaks("key.atomic")
class ClaimsTheKeyInATransactionOfItsOwn(SqliteStore):
    async def enqueue_once(self, job: NewJob, *, scope: str, key: str, ttl: timedelta) -> JobId | None:
        token = await self.claim_key(scope, key, ttl)
        if token is None:
            return None
        await self.release_key(scope, key, token)
        return await super().enqueue_once(job, scope=scope, key=key, ttl=ttl)


@breaks("wakeups.commit")
class RingsBeforeItCommits(MemoryStore):
    async def enqueue(self, jobs: Sequence[NewJob]) -> list[EnqueueResult]:
        self._data.work.ring()
        await _pause()
        return await self._settled(lambda now: self._data.place(jobs, now, self._data.table.add))


@breaks("wakeups.commit")
class RingsForItsOwnHandleAlone(SqliteStore):
    async def wakeups(self) -> AsyncGenerator[None]:
        yield
        rung = self.__dict__.setdefault("_rung", asyncio.Event())
        while True:
            await rung.wait()
            rung.clear()
            yield

    async def enqueue(self, jobs: Sequence[NewJob]) -> list[EnqueueResult]:
        results = await super().enqueue(jobs)
        self.__dict__.setdefault("_rung", asyncio.Event()).set()
        return results


@breaks("wakeups.commit")
class ResumesQueuesInSilence(MemoryStore):
    async def resume_queue(self, queue: str) -> bool:
        return self._data.paused.pop(queue, None) is not None


@asynccontextmanager
async def _cut_off() -> AsyncGenerator[Subject]:
    """Memory whose subscriptions hang on a connection, which is not made again when it was cut."""
    clock = ManualClock()
    cut = asyncio.Event()

    class StaysCutOff(MemoryStore):
        async def wakeups(self) -> AsyncGenerator[None]:
            async for hint in super().wakeups():
                if cut.is_set():
                    await asyncio.Event().wait()
                yield hint

    async def cutting() -> None:
        cut.set()

    yield Subject(store=StaysCutOff(clock=clock, bound=BOUND), advance=clock.advance, cut=cutting, patience=PATIENCE)


@breaks("wakeups.recover", factory=_cut_off)
class StaysCutOff(MemoryStore):
    """The store of that factory, by its name."""


@asynccontextmanager
async def _hostile() -> AsyncGenerator[Subject]:
    """Memory whose new handles take the zone of the session for their own, as a driver's default would have it."""
    clock = ManualClock()
    spoilt = asyncio.Event()

    class TrustsTheDefaults(MemoryStore):
        async def claim(self, **arguments: Any) -> Any:
            if spoilt.is_set():
                raise ConnectionError("cannot execute UPDATE in a read-only transaction")
            return await super().claim(**arguments)

    async def spoil() -> None:
        spoilt.set()

    yield Subject(store=TrustsTheDefaults(clock=clock, bound=BOUND), advance=clock.advance, hostile=spoil)


@breaks("life.isolation", factory=_hostile)
class TrustsTheDefaults(MemoryStore):
    """The store of that factory, by its name."""


@asynccontextmanager
async def _leaking() -> AsyncGenerator[Subject]:
    """Memory on a connection whose loss comes out as the driver's own error."""
    clock = ManualClock()
    cut = asyncio.Event()

    class LetsTheOutageOut(MemoryStore):
        async def enqueue(self, jobs: Sequence[NewJob]) -> list[EnqueueResult]:
            if cut.is_set():
                cut.clear()
                raise ConnectionResetError("server closed the connection unexpectedly")
            return await super().enqueue(jobs)

    async def cutting() -> None:
        cut.set()

    yield Subject(store=LetsTheOutageOut(clock=clock, bound=BOUND), advance=clock.advance, cut=cutting)


@breaks("life.errors", factory=_leaking)
class LetsTheOutageOut(MemoryStore):
    """The store of that factory, by its name."""
