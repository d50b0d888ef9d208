"""enqueue: all of the jobs or none."""

from collections.abc import Sequence

from klokka.core.records import EnqueueResult, NewJob
from klokka.stores.memory.handle import LIMITS, Handle


class Enqueueing(Handle):
    """Implements `JobVerbs.enqueue`."""

    async def enqueue(self, jobs: Sequence[NewJob]) -> list[EnqueueResult]:
        LIMITS.admit(jobs)
        if not jobs:
            return []
        return await self._settled(lambda now: self._data.insert(jobs, now))
