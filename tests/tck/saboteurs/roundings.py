"""Stores whose durations and numbers are of another size than those that callers give."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from klokka.core.ids import Fence, JobId, KeyToken, ScheduleId
from klokka.core.records import ClaimedJob, EnqueueResult, NewJob, RetentionPolicy, SweepReport
from klokka.core.schedule_records import ScheduleFire
from klokka.core.states import Failed
from klokka.core.worker_records import WorkerBeat
from klokka.errors import InvalidInput
from tests.tck.saboteurs.registry import breaks

SECOND = timedelta(seconds=1)
DAY = timedelta(days=1)
BITS = 2**32


def in_seconds(length: timedelta) -> timedelta:
    """The length in whole seconds, as a server that knows no others is given it."""
    return SECOND * math.ceil(length / SECOND)


@breaks("heartbeat.extends")
class ExtendsInWholeSeconds:
    async def heartbeat(self, held: Mapping[JobId, Fence], **arguments: Any) -> set[JobId]:
        return await super().heartbeat(held, **{**arguments, "extend": in_seconds(arguments["extend"])})


@breaks("heartbeat.extends")
class ExtendsByADayAtMost:
    async def heartbeat(self, held: Mapping[JobId, Fence], **arguments: Any) -> set[JobId]:
        return await super().heartbeat(held, **{**arguments, "extend": min(arguments["extend"], DAY)})


@breaks("enqueue.state")
class WaitsInWholeSeconds:
    async def enqueue(self, jobs: Sequence[NewJob]) -> list[EnqueueResult]:
        return await super().enqueue(
            [
                replace(job, run_at=in_seconds(job.run_at)) if _is_possible(job.run_at) else job  # type: ignore[arg-type]
                for job in jobs
            ]
        )


@breaks("transition.times")
class RetriesInWholeSeconds:
    async def transition(self, id: JobId, **arguments: Any) -> bool:
        to = arguments["to"]
        if isinstance(to, Failed) and _is_possible(to.retry_at):
            arguments["to"] = Failed(in_seconds(to.retry_at))  # type: ignore[arg-type]
        return await super().transition(id, **arguments)


@breaks("claim.next-due")
class LooksAnHourAhead:
    async def next_due(self, **arguments: Any) -> datetime | None:
        at = await super().next_due(**arguments)
        return at and min(at, await self.now() + timedelta(hours=1))


@breaks("sweep.retention")
class KeepsForWholeDays:
    async def sweep(self, retention: RetentionPolicy, **arguments: Any) -> SweepReport:
        kept = retention.succeeded_for
        days = None if kept is None else DAY * math.ceil(kept / DAY)
        return await super().sweep(replace(retention, succeeded_for=days), **arguments)


@breaks("key.once")
class ClaimsKeysForWholeSeconds:
    async def claim_key(self, scope: str, key: str, ttl: timedelta) -> KeyToken | None:
        return await super().claim_key(scope, key, in_seconds(ttl))


@breaks("key.once")
class TakesLongTtlsForThirtyDays:
    async def claim_key(self, scope: str, key: str, ttl: timedelta) -> KeyToken | None:
        return await super().claim_key(scope, key, min(ttl, 30 * DAY))


@breaks("key.once")
class EnqueuesOnceADayAtMost:
    async def enqueue_once(self, job: NewJob, *, scope: str, key: str, ttl: timedelta) -> JobId | None:
        return await super().enqueue_once(job, scope=scope, key=key, ttl=min(ttl, DAY))


@breaks("lease.one")
class LeasesNamesForWholeSeconds:
    async def acquire_lease(self, name: str, owner: str, ttl: timedelta) -> Fence | None:
        return await super().acquire_lease(name, owner, in_seconds(ttl))


@breaks("lease.one")
class LeasesNamesForADayAtMost:
    async def acquire_lease(self, name: str, owner: str, ttl: timedelta) -> Fence | None:
        return await super().acquire_lease(name, owner, min(ttl, DAY))


@breaks("schedule.crash")
class LeasesFiresForWholeSeconds:
    async def due_schedules(self, **arguments: Any) -> list[ScheduleFire]:
        return await super().due_schedules(**{**arguments, "lease": in_seconds(arguments["lease"])})


@breaks("fleet.beat")
class LivesForWholeSeconds:
    async def beat(self, worker: WorkerBeat, *, live_for: timedelta) -> None:
        await super().beat(worker, live_for=in_seconds(live_for))


@breaks("fleet.beat")
class LivesForADayAtMost:
    async def beat(self, worker: WorkerBeat, *, live_for: timedelta) -> None:
        await super().beat(worker, live_for=min(live_for, DAY))


@breaks("claim.limit")
class CountsIn32Bits:
    async def claim(self, **arguments: Any) -> list[ClaimedJob]:
        if arguments["limit"] >= BITS // 2:
            raise InvalidInput("the limit is no 32-bit number")
        return await super().claim(**arguments)


@breaks("claim.caps")
class CapsIn32Bits:
    async def claim(self, **arguments: Any) -> list[ClaimedJob]:
        caps = {queue: cap % BITS for queue, cap in arguments.get("caps", {}).items() if cap >= 0}
        return await super().claim(**{**arguments, "caps": caps})


@breaks("schedule.due")
class CountsFiresIn32Bits:
    async def due_schedules(self, **arguments: Any) -> list[ScheduleFire]:
        return await super().due_schedules(**{**arguments, "limit": arguments["limit"] % BITS})


@breaks("sweep.bounded")
class SweepsIn32Bits:
    async def sweep(self, retention: RetentionPolicy, *, limit: int = 1000) -> SweepReport:
        return await super().sweep(retention, limit=limit % BITS)


@breaks("heartbeat.held")
class HoldsUnder32Bits:
    async def heartbeat(self, held: Mapping[JobId, Fence], **arguments: Any) -> set[JobId]:
        return await super().heartbeat({job: Fence(fence % BITS) for job, fence in held.items()}, **arguments)


@breaks("transition.fence")
class SettlesUnder32Bits:
    async def transition(self, id: JobId, *, fence: Fence | None = None, **arguments: Any) -> bool:
        return await super().transition(id, fence=None if fence is None else Fence(fence % BITS), **arguments)


@breaks("schedule.fence")
class CompletesUnder32Bits:
    async def complete_fire(self, schedule_id: ScheduleId, *, fence: Fence, **arguments: Any) -> Any:
        return await super().complete_fire(schedule_id, fence=Fence(fence % BITS), **arguments)


@breaks("lease.cursor")
class MovesUnder32Bits:
    async def advance_cursor(self, name: str, to: datetime, *, lease: str, fence: Fence) -> bool:
        return await super().advance_cursor(name, to, lease=lease, fence=Fence(fence % BITS))


@breaks("life.arguments")
class FindsJobsBy32Bits:
    async def transition(self, id: JobId, **arguments: Any) -> bool:
        return await super().transition(JobId(id % BITS), **arguments)


@breaks("operate.delete")
class DeletesBy64Bits:
    async def delete(self, id: JobId) -> bool:
        return await super().delete(JobId(id % 2**64))


def _is_possible(wait: datetime | timedelta | None) -> bool:
    return isinstance(wait, timedelta) and timedelta(0) < wait < timedelta(days=99_999)
