"""enqueue_in and its blocking twin: on the caller's connection, without one of our own."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any

from klokka.core.records import EnqueueResult, NewJob
from klokka.stores.postgres.handle import Handle
from klokka.stores.postgres.inserts import rendered
from klokka.stores.postgres.transactions.judging import judged
from klokka.stores.postgres.transactions.recognition import Library, carrier, library_of
from klokka.stores.postgres.transactions.steps import Steps, enqueueing


class Transacting(Handle):
    """Implements `TransactionalStore` and `SyncTransactionalStore`; needs no open handle."""

    async def enqueue_in(self, tx: Any, jobs: Sequence[NewJob]) -> list[EnqueueResult]:
        library = library_of(tx, asynchronous=True)
        if not jobs:
            return []
        steps = self._steps(jobs)
        with self._judging(library):
            results: list[EnqueueResult] = await carrier(library).carry_async(tx, steps)
        return results

    def enqueue_in_sync(self, tx: Any, jobs: Sequence[NewJob]) -> list[EnqueueResult]:
        library = library_of(tx, asynchronous=False)
        if not jobs:
            return []
        steps = self._steps(jobs)
        with self._judging(library):
            results: list[EnqueueResult] = carrier(library).carry(tx, steps)
        return results

    def _steps(self, jobs: Sequence[NewJob]) -> Steps:
        self._setting.limits.admit(jobs)
        return enqueueing(rendered(jobs), self._setting)

    @contextmanager
    def _judging(self, library: Library) -> Generator[None]:
        try:
            yield
        except Exception as error:
            ours = judged(error, self._setting, begin=library.begin)
            if ours is error:
                raise
            raise ours from error
