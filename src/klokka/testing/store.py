"""The store behind `klokka.testing`: memory, and any transaction is taken as committed at once."""

from collections.abc import Sequence
from typing import Any

from klokka.core.records import EnqueueResult, NewJob
from klokka.stores.memory.store import MemoryStore
from klokka.stores.memory.transactions import MemoryTransaction


class TestingStore(MemoryStore):
    """A memory store that accepts `tx=` of every sort.

    It cannot see a foreign transaction end, so the job exists as soon as it is enqueued, also where the transaction
    rolls back later. Test the rollback against the real store.
    """

    __test__ = False

    async def enqueue_in(self, tx: Any, jobs: Sequence[NewJob]) -> list[EnqueueResult]:
        return self.enqueue_in_sync(tx, jobs)

    def enqueue_in_sync(self, tx: Any, jobs: Sequence[NewJob]) -> list[EnqueueResult]:
        if isinstance(tx, MemoryTransaction):
            return super().enqueue_in_sync(tx, jobs)
        with self.begin() as own:
            return super().enqueue_in_sync(own, jobs)
