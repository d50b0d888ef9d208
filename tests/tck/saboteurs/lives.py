"""Saboteurs of time and life."""

import asyncio
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

from klokka.core.records import ClaimedJob, EnqueueResult, NewJob
from klokka.errors import Busy, InvalidInput
from klokka.stores.memory.rows import JobRow
from klokka.stores.memory.store import MemoryStore
from tests.tck.saboteurs.registry import breaks


@breaks("time.store-clock")
class AddsWaitsToTheCallersClock(MemoryStore):
    async def enqueue(self, jobs: Sequence[NewJob]) -> list[EnqueueResult]:
        now = datetime.now(UTC)
        return await super().enqueue(
            [replace(job, run_at=now + job.run_at) if isinstance(job.run_at, timedelta) else job for job in jobs]
        )


@breaks("time.aware")
class TakesNaiveInstantsForUtc(MemoryStore):
    async def enqueue(self, jobs: Sequence[NewJob]) -> list[EnqueueResult]:
        return await super().enqueue(
            [
                replace(job, run_at=job.run_at.replace(tzinfo=UTC)) if isinstance(job.run_at, datetime) else job
                for job in jobs
            ]
        )


@breaks("time.aware")
class AnswersInTheZoneOfTheServer(MemoryStore):
    async def claim(self, **arguments: Any) -> list[ClaimedJob]:
        zone = timezone(timedelta(hours=2))
        return [replace(job, enqueued_at=job.enqueued_at.astimezone(zone)) for job in await super().claim(**arguments)]


@breaks("time.resolution")
class RoundsToSeconds(MemoryStore):
    async def enqueue(self, jobs: Sequence[NewJob]) -> list[EnqueueResult]:
        return await super().enqueue(
            [
                replace(job, run_at=job.run_at.replace(microsecond=0)) if isinstance(job.run_at, datetime) else job
                for job in jobs
            ]
        )


@breaks("time.backwards")
class DistrustsLeasesFromTheFuture(MemoryStore):
    def _claimable(self, queue: str, kinds: Collection[str], now: datetime) -> Iterator[JobRow]:
        for row in self._data.table.rows.values():
            if row.lease_until is not None and row.enqueued_at > now:
                yield row
        yield from super()._claimable(queue, kinds, now)


@breaks("life.open")
class OpensOnce(MemoryStore):
    async def open(self) -> None:
        if self._loop is not None:
            raise RuntimeError("open already")
        await super().open()


@breaks("life.durable")
class LosesWhatWasNotFlushed(MemoryStore):
    async def close(self) -> None:
        self._data.table.rows.clear()
        await super().close()


@breaks("life.isolation")
class ReadsAnOldSnapshot(MemoryStore):
    _snapshot: dict[tuple[str, ...], datetime | None]

    async def next_due(self, **arguments: Any) -> datetime | None:
        seen = self.__dict__.setdefault("_snapshot", {})
        key = tuple(arguments["queues"])
        if key not in seen:
            seen[key] = await super().next_due(**arguments)
        return seen[key]


@breaks("life.deadlock")
class DeadlocksOnLargeBatches(MemoryStore):
    async def enqueue(self, jobs: Sequence[NewJob]) -> list[EnqueueResult]:
        if len(jobs) > 10:
            if self._data.reserved.get("large"):
                raise Busy("deadlock detected")
            self._data.reserved["large"] = self  # type: ignore[assignment]
            await asyncio.sleep(0.01)
            del self._data.reserved["large"]
        return await super().enqueue(jobs)


@breaks("life.errors")
class LeaksItsOwnErrors(MemoryStore):
    async def claim(self, **arguments: Any) -> list[ClaimedJob]:
        try:
            return await super().claim(**arguments)
        except InvalidInput as error:
            raise ValueError("CHECK constraint failed") from error


@breaks("life.arguments")
class CountsAQueueTwice(MemoryStore):
    async def claim(self, **arguments: Any) -> list[ClaimedJob]:
        first = await super().claim(**arguments)
        queues, room = arguments["queues"], arguments["limit"] - len(first)
        repeated = [queue for queue in set(queues) if list(queues).count(queue) > 1]
        return first + (await super().claim(**{**arguments, "queues": repeated, "limit": room}) if repeated else [])


@breaks("life.arguments")
class TakesAnEmptyLease(MemoryStore):
    async def claim(self, **arguments: Any) -> list[ClaimedJob]:
        return await super().claim(**{**arguments, "lease": max(arguments["lease"], timedelta(microseconds=1))})


@breaks("life.cancel")
class StoresHalfOfACancelledBatch(MemoryStore):
    async def enqueue(self, jobs: Sequence[NewJob]) -> list[EnqueueResult]:
        results = await super().enqueue(jobs[:1])
        await asyncio.sleep(0)
        return results + await super().enqueue(jobs[1:])
