"""Stores that take one name for another."""

import fnmatch
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from klokka.core.ids import Fence, JobId, KeyToken, WorkerId
from klokka.core.records import ClaimedJob, JobQuery, JobSummary, QueueDepth
from klokka.core.worker_records import WorkerBeat
from klokka.stores.memory.store import MemoryStore
from tests.tck.saboteurs.registry import breaks


def like(pattern: str, name: str) -> bool:
    """Whether SQL's `like` takes the name for one of the pattern's."""
    return fnmatch.fnmatchcase(name, pattern.replace("_", "?").replace("%", "*"))


@breaks("claim.kinds")
class TakesKindsForPatterns(MemoryStore):
    async def claim(self, **arguments: Any) -> list[ClaimedJob]:
        known = {row.new.kind for row in self._data.table.rows.values()}
        kinds = {kind for kind in known for wanted in arguments["kinds"] if like(wanted, kind)}
        return await super().claim(**{**arguments, "kinds": kinds})


@breaks("claim.queue-order")
class TakesQueuesForPatterns(MemoryStore):
    async def claim(self, **arguments: Any) -> list[ClaimedJob]:
        known = sorted({row.new.queue for row in self._data.table.rows.values()})
        queues = [queue for wanted in arguments["queues"] for queue in known if like(wanted, queue)]
        return await super().claim(**{**arguments, "queues": queues})


@breaks("claim.queue-order")
class TakesQueuesWithWhatIsBelow(MemoryStore):
    async def claim(self, **arguments: Any) -> list[ClaimedJob]:
        known = sorted({row.new.queue for row in self._data.table.rows.values()})
        below = [queue for wanted in arguments["queues"] for queue in known if queue.startswith(f"{wanted}.")]
        return await super().claim(**{**arguments, "queues": [*arguments["queues"], *below]})


@breaks("claim.next-due")
class LooksForPatternsOfQueues(MemoryStore):
    async def next_due(self, *, queues: Sequence[str], kinds: Collection[str]) -> datetime | None:
        known = sorted({row.new.queue for row in self._data.table.rows.values()})
        wanted = [queue for pattern in queues for queue in known if like(pattern, queue)]
        return await super().next_due(queues=wanted, kinds=kinds)


@breaks("fleet.pause")
class ResumesWhatIsLikeIt(MemoryStore):
    async def resume_queue(self, queue: str) -> bool:
        alike = [paused for paused in self._data.paused if queue.startswith(paused) or paused.startswith(queue)]
        return any([await super(ResumesWhatIsLikeIt, self).resume_queue(each) for each in alike])


@breaks("heartbeat.held")
class FoldsTheCaseOfWorkers:
    async def claim(self, **arguments: Any) -> list[ClaimedJob]:
        return await super().claim(**{**arguments, "worker": WorkerId(arguments["worker"].lower())})

    async def heartbeat(self, held: Mapping[JobId, Fence], **arguments: Any) -> set[JobId]:
        return await super().heartbeat(held, **{**arguments, "worker": WorkerId(arguments["worker"].lower())})


@breaks("key.once")
class FoldsTheCaseOfScopes:
    async def claim_key(self, scope: str, key: str, ttl: timedelta) -> KeyToken | None:
        return await super().claim_key(scope.lower(), key, ttl)

    async def release_key(self, scope: str, key: str, token: KeyToken) -> bool:
        return await super().release_key(scope.lower(), key, token)


@breaks("key.once")
class JoinsScopeAndKey:
    async def claim_key(self, scope: str, key: str, ttl: timedelta) -> KeyToken | None:
        return await super().claim_key("all", f"{scope}:{key}", ttl)

    async def release_key(self, scope: str, key: str, token: KeyToken) -> bool:
        return await super().release_key("all", f"{scope}:{key}", token)


@breaks("lease.one")
class FoldsTheCaseOfLeases:
    async def acquire_lease(self, name: str, owner: str, ttl: timedelta) -> Fence | None:
        return await super().acquire_lease(name.lower(), owner, ttl)


@breaks("lease.one")
class TrimsOwners:
    async def acquire_lease(self, name: str, owner: str, ttl: timedelta) -> Fence | None:
        return await super().acquire_lease(name, owner.strip(), ttl)

    async def release_lease(self, name: str, owner: str) -> bool:
        return await super().release_lease(name, owner.strip())


@breaks("fleet.beat")
class FoldsTheCaseOfTheFleet:
    async def beat(self, worker: WorkerBeat, *, live_for: timedelta) -> None:
        await super().beat(replace(worker, id=WorkerId(worker.id.lower())), live_for=live_for)


@breaks("query.filters")
class TakesNoTextForAny:
    async def list_jobs(self, query: JobQuery) -> list[JobSummary]:
        names = ("kind", "queue", "unique_key", "schedule_id")
        return await super().list_jobs(replace(query, **{name: getattr(query, name) or None for name in names}))


@breaks("query.filters")
class FiltersSchedulesByPrefix(MemoryStore):
    async def list_jobs(self, query: JobQuery) -> list[JobSummary]:
        if not query.schedule_id:
            return await super().list_jobs(query)
        jobs = await super().list_jobs(replace(query, schedule_id=None, limit=1000, offset=0))
        found = [job for job in jobs if (job.schedule_id or "").startswith(query.schedule_id)]
        return found[query.offset : query.offset + query.limit]


@breaks("query.depths")
class SortsQueuesByTheirLetters:
    async def queue_depths(self) -> list[QueueDepth]:
        return sorted(
            await super().queue_depths(),
            key=lambda depth: depth.queue.replace("-", "").replace(".", "").replace("_", ""),
        )
