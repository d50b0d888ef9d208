"""Faults of time, claiming and heartbeats that any store may have."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

from klokka.core.ids import Fence, JobId, ScheduleId
from klokka.core.records import ClaimedJob, EnqueueResult, NewJob
from tests.tck.saboteurs.registry import breaks


@breaks("claim.order")
class ForgetsHowLateAJobIs:
    async def enqueue(self, jobs: Sequence[NewJob]) -> list[EnqueueResult]:
        now = await self.now()
        return await super().enqueue(
            [replace(job, run_at=now) if isinstance(job.run_at, datetime) and job.run_at < now else job for job in jobs]
        )


@breaks("time.aware")
class LeavesOutTheZoneOfTheLease:
    async def claim(self, **arguments: Any) -> list[ClaimedJob]:
        jobs = await super().claim(**arguments)
        return [replace(job, lease_until=job.lease_until.replace(tzinfo=None)) for job in jobs]


@breaks("time.aware")
class LeavesOutTheZoneOfWhatIsDueNext:
    async def next_due(self, **arguments: Any) -> datetime | None:
        at = await super().next_due(**arguments)
        return None if at is None else at.replace(tzinfo=None)


@breaks("time.aware")
class TellsTheTimeOfItsOwnZone:
    async def now(self) -> datetime:
        return (await super().now()).astimezone(timezone(timedelta(hours=-5)))


@breaks("time.aware")
class ShowsJobsInItsOwnZone:
    async def get_job(self, id: JobId) -> Any:
        details = await super().get_job(id)
        zone = timezone(timedelta(hours=1))
        return details and replace(details, scheduled_for=details.scheduled_for.astimezone(zone))


@breaks("time.aware")
class FiresInItsOwnZone:
    async def due_schedules(self, **arguments: Any) -> list[Any]:
        zone = timezone(timedelta(hours=1))
        return [replace(fire, now=fire.now.astimezone(zone)) for fire in await super().due_schedules(**arguments)]


@breaks("time.aware")
class TakesNaiveFiresForUtc:
    async def complete_fire(self, schedule_id: ScheduleId, **arguments: Any) -> Any:
        at = arguments["next_fire_at"]
        if at is not None and at.tzinfo is None:
            arguments["next_fire_at"] = at.replace(tzinfo=UTC)
        return await super().complete_fire(schedule_id, **arguments)


@breaks("claim.limit")
class TakesANegativeLimitForNone:
    async def claim(self, **arguments: Any) -> list[ClaimedJob]:
        limit = arguments["limit"]
        return await super().claim(**{**arguments, "limit": 1000 if limit < 0 else limit})


@breaks("claim.limit")
class TakesZeroForNoLimit:
    async def claim(self, **arguments: Any) -> list[ClaimedJob]:
        return await super().claim(**{**arguments, "limit": arguments["limit"] or 1000})


@breaks("claim.exact")
class NeverGivesMoreThanTenAtOnce:
    async def claim(self, **arguments: Any) -> list[ClaimedJob]:
        return await super().claim(**{**arguments, "limit": min(arguments["limit"], 10)})


@breaks("claim.caps")
class LetsCapsEatTheLimit:
    async def claim(self, **arguments: Any) -> list[ClaimedJob]:
        claimed: list[ClaimedJob] = []
        caps, room = arguments.get("caps", {}), arguments["limit"]
        for queue in dict.fromkeys(arguments["queues"]):
            share = min(room, caps.get(queue, room))
            claimed += await super().claim(**{**arguments, "queues": [queue], "limit": share})
            room -= share
        return claimed


@breaks("claim.caps")
class TakesACapOfZeroForNone:
    async def claim(self, **arguments: Any) -> list[ClaimedJob]:
        caps = {queue: cap for queue, cap in arguments.get("caps", {}).items() if cap}
        return await super().claim(**{**arguments, "caps": caps})


@breaks("claim.caps")
class CapsTheWholeClaim:
    async def claim(self, **arguments: Any) -> list[ClaimedJob]:
        caps = arguments.get("caps", {})
        return await super().claim(**{**arguments, "limit": min([arguments["limit"], *caps.values()])})


@breaks("claim.queue-order")
class TakesTurnsAmongQueues:
    async def claim(self, **arguments: Any) -> list[ClaimedJob]:
        claimed: list[ClaimedJob] = []
        found = True
        while found and len(claimed) < arguments["limit"]:
            found = False
            for queue in arguments["queues"]:
                if len(claimed) < arguments["limit"]:
                    one = await super().claim(**{**arguments, "queues": [queue], "limit": 1})
                    claimed += one
                    found = found or bool(one)
        return claimed


@breaks("claim.lease")
class CutsLeasesToSeconds:
    async def claim(self, **arguments: Any) -> list[ClaimedJob]:
        jobs = await super().claim(**arguments)
        return [replace(job, lease_until=job.lease_until.replace(microsecond=0)) for job in jobs]


@breaks("claim.lease")
class CapsLeasesAtADay:
    async def claim(self, **arguments: Any) -> list[ClaimedJob]:
        return await super().claim(**{**arguments, "lease": min(arguments["lease"], timedelta(days=1))})


@breaks("heartbeat.held")
class SaysThatAllIsHeld:
    async def heartbeat(self, held: Mapping[JobId, Fence], **arguments: Any) -> set[JobId]:
        await super().heartbeat(held, **arguments)
        return set(held)


@breaks("heartbeat.held")
class GivesUpAllForOne:
    async def heartbeat(self, held: Mapping[JobId, Fence], **arguments: Any) -> set[JobId]:
        still_held = await super().heartbeat(held, **arguments)
        return still_held if len(still_held) == len(held) else set()
