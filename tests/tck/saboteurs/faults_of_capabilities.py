"""Faults of what a store may also do, and of its life."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

from klokka.core.ids import Fence, JobId
from klokka.core.records import ClaimedJob, EnqueueResult, JobQuery, NewJob
from klokka.errors import InvalidInput, KlokkaError, UniqueConflict
from tests.tck.saboteurs.registry import breaks


@breaks("query.page")
class CapsPagesAtTwenty:
    async def list_jobs(self, query: JobQuery) -> list[Any]:
        return await super().list_jobs(replace(query, limit=min(query.limit, 20)))


@breaks("query.page")
class TurnsTheCursorIntoAnOffset:
    async def list_jobs(self, query: JobQuery) -> list[Any]:
        if query.before is None:
            return await super().list_jobs(query)
        whole = await super().list_jobs(replace(query, before=None, limit=10_000, offset=0))
        seen = [job.id for job in whole]
        behind = self.__dict__.setdefault("_places", {}).setdefault(
            query.before, len([i for i in seen if i >= query.before])
        )
        return whole[behind : behind + query.limit]


@breaks("query.page")
class TakesANegativeOffsetForZero:
    async def list_jobs(self, query: JobQuery) -> list[Any]:
        return await super().list_jobs(replace(query, offset=max(query.offset, 0)))


@breaks("query.filters")
class FiltersAfterThePage:
    async def list_jobs(self, query: JobQuery) -> list[Any]:
        page = await super().list_jobs(replace(query, queue=None))
        return [job for job in page if query.queue in (None, job.queue)]


@breaks("query.filters")
class FiltersKindsByPrefix:
    async def list_jobs(self, query: JobQuery) -> list[Any]:
        page = await super().list_jobs(replace(query, kind=None))
        return [job for job in page if query.kind is None or job.kind.startswith(query.kind)]


@breaks("query.filters")
class FiltersKeysWithoutCase:
    async def list_jobs(self, query: JobQuery) -> list[Any]:
        if query.unique_key is None:
            return await super().list_jobs(query)
        page = await super().list_jobs(replace(query, unique_key=None))
        details = {job.id: await self.get_job(job.id) for job in page}
        wanted = query.unique_key.casefold()
        return [job for job in page if (details[job.id].unique_key or "").casefold() == wanted]


@breaks("operate.cancel")
class AnswersYesForUnknownJobs:
    async def cancel(self, id: JobId) -> bool:
        await super().cancel(id)
        return True


@breaks("operate.requeue")
class AnswersFalseForAHeldKey:
    async def requeue(self, id: JobId) -> bool:
        try:
            return await super().requeue(id)
        except UniqueConflict:
            return False


@breaks("operate.delete")
class CancelsInsteadOfDeleting:
    async def delete(self, id: JobId) -> bool:
        return await super().cancel(id) or await super().delete(id)


@breaks("key.once")
class LetsALoserMoveTheEnd:
    async def claim_key(self, scope: str, key: str, ttl: timedelta) -> Any:
        mine = await super().claim_key(scope, key, ttl)
        tokens = self.__dict__.setdefault("_tokens", {})
        if mine is None and (scope, key) in tokens:
            await self.release_key(scope, key, tokens[scope, key])
            tokens[scope, key] = await super().claim_key(scope, key, ttl)
            return None
        tokens[scope, key] = mine
        return mine


@breaks("key.atomic")
class ClaimsTheKeyAndThenStores:
    async def enqueue_once(self, job: NewJob, *, scope: str, key: str, ttl: timedelta) -> JobId | None:
        if await self.claim_key(scope, key, ttl) is None:
            return None
        (result,) = await self.enqueue([job])
        if not result.created:
            raise UniqueConflict("held", holder=result.id)
        return result.id


@breaks("key.atomic")
class CallsAHeldUniqueKeyADuplicate:
    async def enqueue_once(self, job: NewJob, **arguments: Any) -> JobId | None:
        try:
            return await super().enqueue_once(job, **arguments)
        except UniqueConflict:
            return None


@breaks("fleet.pause")
class RefusesEnqueuesOfAPausedQueue:
    async def enqueue(self, jobs: Sequence[NewJob]) -> list[EnqueueResult]:
        paused = await self.paused_queues()
        if any(job.queue in paused for job in jobs):
            raise InvalidInput("the queue is paused")
        return await super().enqueue(jobs)


@breaks("fleet.pause")
class KnowsPausesOfKnownQueuesAlone:
    async def pause_queue(self, queue: str, reason: str) -> None:
        if any(depth.queue == queue for depth in await self.queue_depths()):
            await super().pause_queue(queue, reason)


@breaks("life.open")
class GivesTheSameHandleAgain:
    def new_handle(self) -> Any:
        return self


@breaks("life.open")
class ForgetsWhoOpenedIt:
    async def open(self) -> None:
        try:
            await super().open()
        except KlokkaError:
            return


@breaks("life.arguments")
class TakesAnExtensionOfNothing:
    async def heartbeat(self, held: Mapping[JobId, Fence], **arguments: Any) -> set[JobId]:
        if arguments["extend"] <= timedelta(0):
            return set()
        return await super().heartbeat(held, **arguments)


@breaks("life.arguments")
class OverflowsAtLargeIds:
    async def transition(self, id: JobId, **arguments: Any) -> bool:
        if id >= 2**63:
            raise OverflowError("int too large to convert")
        return await super().transition(id, **arguments)


@breaks("life.cancel")
class LosesItsHandleWhenCancelled:
    async def claim(self, **arguments: Any) -> list[ClaimedJob]:
        if self.__dict__.get("_broken"):
            raise KlokkaError("the connection is in use")
        self._broken = True
        await asyncio.sleep(0)
        jobs = await super().claim(**arguments)
        self._broken = False
        return jobs


@breaks("life.errors")
class LetsItsDriversErrorsOut:
    async def enqueue(self, jobs: Sequence[NewJob]) -> list[EnqueueResult]:
        try:
            return await super().enqueue(jobs)
        except InvalidInput as error:
            raise LookupError("invalid byte sequence") from error
