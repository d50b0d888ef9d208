"""enqueue: all of the jobs or none."""

from collections.abc import Sequence

from klokka.core.records import EnqueueResult, NewJob
from klokka.stores.postgres.handle import Handle
from klokka.stores.postgres.inserts import rendered, results


class Enqueueing(Handle):
    """Implements `JobVerbs.enqueue`."""

    async def enqueue(self, jobs: Sequence[NewJob]) -> list[EnqueueResult]:
        if not jobs:
            return []
        self._setting.limits.admit(jobs)
        insert = rendered(jobs)
        return results(await self._database.write(insert.name, insert.jobs))
