"""SQLite stores whose faults show only to processes that die, and to verbs that are cancelled in the middle.

They break no clause that the examples could not name; `breaks` does not list them, since no example can see them.
"""

import asyncio
import fcntl
from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from typing import Any

from klokka.core.ids import JobId, ScheduleId
from klokka.core.records import EnqueueResult, NewJob
from klokka.core.states import Running
from klokka.stores.sqlite import inserts, schedules
from klokka.stores.sqlite.store import SqliteStore


class AnswersBeforeItWrites(SqliteStore):
    """Breaks [life.durable]: a settlement is written a moment after it was acknowledged."""

    _later: set[asyncio.Task[Any]]

    async def transition(self, id: JobId, **arguments: Any) -> bool:
        details = await self.get_job(id)
        if details is None or not isinstance(arguments["from_"], Running) or details.fence != arguments["fence"]:
            return await super().transition(id, **arguments)
        self.__dict__.setdefault("_later", set()).add(asyncio.create_task(self._settle(id, arguments)))
        return True

    async def _settle(self, id: JobId, arguments: dict[str, Any]) -> None:
        await asyncio.sleep(0.05)
        await super().transition(id, **arguments)


class StoresABatchInTwoCommits(SqliteStore):
    """Breaks [enqueue.atomic] for whoever dies in between."""

    async def enqueue(self, jobs: Sequence[NewJob]) -> list[EnqueueResult]:
        first = await super().enqueue(jobs[:1])
        await asyncio.sleep(0.01)
        return first + await super().enqueue(jobs[1:])


class KnowsItsOwnClaimsAlone(SqliteStore):
    """Breaks [claim.exclusive] between processes: what another one holds is taken for free."""

    async def claim(self, **arguments: Any) -> Any:
        free = "update klokka_jobs set lease_until = 1 where lease_until is not null and holder <> ?"
        await self._write(lambda tx: tx.execute(free, (arguments["worker"],)) and None)
        return await super().claim(**arguments)


class CompletesInTwoCommits(SqliteStore):
    """Breaks [schedule.complete] for a completion that is cancelled in between."""

    async def complete_fire(self, schedule_id: ScheduleId, *, runs: Sequence[NewJob], **arguments: Any) -> Any:
        done = await self._write(partial(schedules.complete_fire, schedule_id=schedule_id, runs=(), **arguments))
        if done is None or not runs:
            return done
        return await self._write(partial(inserts.enqueue, jobs=tuple(runs)))


class KeepsItsPlaceWhenCancelled(SqliteStore):
    """Breaks [life.cancel]: a place that is taken and not given back when the verb is cancelled."""

    async def claim(self, **arguments: Any) -> Any:
        place = self.__dict__.setdefault("_place", asyncio.Semaphore(1))
        await place.acquire()
        jobs = await super().claim(**arguments)
        place.release()
        return jobs


class ClaimsRowByRow(SqliteStore):
    """Breaks [life.cancel]: a claim that is cancelled has taken a part of what one claim takes."""

    async def claim(self, **arguments: Any) -> Any:
        jobs: list[Any] = []
        while len(jobs) < arguments["limit"]:
            more = await super().claim(**{**arguments, "limit": 1})
            if not more:
                break
            jobs += more
        return jobs


class LocksAFileWhileItClaims(SqliteStore):
    """Breaks [claim.wait-free]: whoever is stopped with the lock keeps all other claimers for as long as he is."""

    async def claim(self, **arguments: Any) -> Any:
        with open(f"{self.path}.lock", "w") as lock:  # noqa: ASYNC230, PTH123
            await asyncio.to_thread(fcntl.flock, lock, fcntl.LOCK_EX)
            return await super().claim(**arguments)


class HidesWhatItIsAboutToGive(SqliteStore):
    """Breaks [claim.wait-free]: between its two commits a claim has rows that no lease will free."""

    async def claim(self, **arguments: Any) -> Any:
        jobs = await super().claim(**{**arguments, "lease": timedelta(days=365)})
        lease = arguments["lease"] // timedelta(microseconds=1)
        end = "update klokka_jobs set lease_until = ? where id = ?"
        await self._write(lambda tx: [tx.execute(end, (tx.now() + lease, job.id)) for job in jobs] and None)
        return jobs
