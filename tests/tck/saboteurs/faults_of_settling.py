"""Faults of transitions, batches, sweeps and schedules that any store may have."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

from klokka.core.ids import JobId, ScheduleId
from klokka.core.records import Change, EnqueueResult, RetentionPolicy, SweepReport
from klokka.errors import InvalidInput, UniqueConflict
from tests.tck.saboteurs.registry import breaks

SECOND = timedelta(seconds=1)


@breaks("transition.cas")
class RaisesForUnknownJobs:
    async def transition(self, id: JobId, **arguments: Any) -> bool:
        if await self.get_job(id) is None:
            raise InvalidInput(f"no job {id}")
        return await super().transition(id, **arguments)


@breaks("transition.any-edge")
class LetsATransitionRun:
    async def transition(self, id: JobId, **arguments: Any) -> bool:
        try:
            return await super().transition(id, **arguments)
        except InvalidInput:
            return False


@breaks("transition.times")
class TakesAMissingTimeForNow:
    async def transition(self, id: JobId, **arguments: Any) -> bool:
        to = arguments["to"]
        if getattr(to, "at", SECOND) is None or getattr(to, "retry_at", SECOND) is None:
            arguments["to"] = type(to)(timedelta(0))
        return await super().transition(id, **arguments)


@breaks("transition.refund")
class RefundsWithoutAFence:
    async def transition(self, id: JobId, **arguments: Any) -> bool:
        if arguments.get("fence") is None:
            arguments["refund"] = False
        return await super().transition(id, **arguments)


@breaks("transition.error")
class LosesTracebacks:
    async def transition(self, id: JobId, **arguments: Any) -> bool:
        if (error := arguments.get("error")) is not None:
            arguments["error"] = replace(error, traceback="")
        return await super().transition(id, **arguments)


@breaks("transition.error")
class KeepsErrorsOfFailuresAlone:
    async def transition(self, id: JobId, **arguments: Any) -> bool:
        if type(arguments["to"]).__name__ != "Failed":
            arguments["error"] = None
        return await super().transition(id, **arguments)


@breaks("batch.each")
class AnswersABatchBackwards:
    async def transition_many(self, changes: Sequence[Change]) -> list[bool]:
        return (await super().transition_many(changes))[::-1]


@breaks("batch.each")
class RefusesABatchForOneConflict:
    async def transition_many(self, changes: Sequence[Change]) -> list[bool]:
        answers = await super().transition_many(changes)
        if len(answers) > 1 and not any(answers):
            raise UniqueConflict("one of them conflicts", holder=1)
        return answers if all(answers) else [False] * len(answers)


@breaks("batch.each")
class TakesTheLastOfEqualIds:
    async def transition_many(self, changes: Sequence[Change]) -> list[bool]:
        last = {change.id: change for change in changes}
        answers = dict(zip(last, await super().transition_many(list(last.values())), strict=True))
        return [answers[change.id] for change in changes]


@breaks("sweep.retention")
class SweepsDeadLettersToo:
    async def sweep(self, retention: RetentionPolicy, *, limit: int = 1000) -> SweepReport:
        kept = retention.dead_lettered_for or timedelta(0)
        return await super().sweep(replace(retention, dead_lettered_for=kept), limit=limit)


@breaks("sweep.retention")
class TakesForeverForADay:
    async def sweep(self, retention: RetentionPolicy, *, limit: int = 1000) -> SweepReport:
        day = timedelta(hours=24)
        kept = replace(retention, succeeded_for=day if retention.succeeded_for is None else retention.succeeded_for)
        return await super().sweep(kept, limit=limit)


@breaks("schedule.complete")
class StoresTheRunsAfterwards:
    async def complete_fire(self, schedule_id: ScheduleId, **arguments: Any) -> list[EnqueueResult] | None:
        done = await super().complete_fire(schedule_id, **{**arguments, "runs": []})
        return None if done is None else await self.enqueue(arguments["runs"])


@breaks("schedule.complete")
class StoresTheRunsBefore:
    async def complete_fire(self, schedule_id: ScheduleId, **arguments: Any) -> list[EnqueueResult] | None:
        results = await self.enqueue(arguments["runs"])
        done = await super().complete_fire(schedule_id, **{**arguments, "runs": []})
        return None if done is None else results


@breaks("schedule.complete")
class RefusesACompletionWithoutRuns:
    async def complete_fire(self, schedule_id: ScheduleId, **arguments: Any) -> list[EnqueueResult] | None:
        done = await super().complete_fire(schedule_id, **arguments)
        return done or None


@breaks("schedule.due")
class FiresAllWhereNoneIsNamed:
    async def due_schedules(self, **arguments: Any) -> list[Any]:
        ids = arguments["ids"] or [row.id for row in await self.list_schedules()]
        return await super().due_schedules(**{**arguments, "ids": ids})


@breaks("schedule.due")
class TakesANegativeLimitOfFiresForNone:
    async def due_schedules(self, **arguments: Any) -> list[Any]:
        limit = arguments["limit"]
        return await super().due_schedules(**{**arguments, "limit": 1000 if limit < 0 else limit})
