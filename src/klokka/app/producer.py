"""Enqueueing: through the app's own handle, or inside the caller's transaction."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from klokka.app.blocking import BlockingSide, refuse_on_a_loop
from klokka.app.capability import DO_WITHOUT, capable
from klokka.app.connection import Connection
from klokka.core.arguments import of_class
from klokka.core.records import EnqueueResult, NewJob
from klokka.runtime.bus import EventBus
from klokka.spi.store import JobStore
from klokka.spi.transactions import AsyncTransaction, SyncTransaction, SyncTransactionalStore, TransactionalStore

_IN_A_THREAD: Final = (
    "Run the whole transaction in a thread, `await asyncio.to_thread(…)`, with enqueue_sync(…, tx=…) in it."
)


class Producer:
    """Stores requests in one call each, all of them or none."""

    def __init__(self, connection: Connection, blocking: BlockingSide, bus: EventBus) -> None:
        self._connection = connection
        self._blocking = blocking
        self._bus = bus

    async def enqueue(self, requests: Iterable[NewJob], tx: AsyncTransaction | None) -> list[EnqueueResult]:
        """From async code; see `Klokka.enqueue`."""
        requests = _checked(requests)
        if tx is not None:
            return await _asynchronous(self._connection.origin).enqueue_in(tx, requests)
        results = await (await self._connection.opened()).enqueue(requests)
        self._tell(requests, results)
        return results

    def enqueue_sync(self, requests: Iterable[NewJob], tx: SyncTransaction | None) -> list[EnqueueResult]:
        """From sync code; see `Klokka.enqueue_sync`. With `tx` all of it runs in the caller's thread."""
        requests = _checked(requests)
        if tx is not None:
            origin = self._connection.origin
            refuse_on_a_loop("app.enqueue(…)" if _takes(origin, TransactionalStore) else "asyncio.to_thread(…)")
            return _synchronous(origin).enqueue_in_sync(tx, requests)
        results = self._blocking.call(lambda store: store.enqueue(requests), "app.enqueue(…)")
        self._tell(requests, results)
        return results

    def _tell(self, requests: Sequence[NewJob], results: Sequence[EnqueueResult]) -> None:
        if not self._bus.listened:  # nor are the events imported then
            return
        from klokka.core.events import Enqueued

        if self._bus.wants(Enqueued):
            for request, result in zip(requests, results, strict=True):
                self._bus.tell(Enqueued(id=result.id, kind=request.kind, queue=request.queue, created=result.created))


# Which connections a store takes it finds out itself, and says so: the store's own class is known at run time only.


def _takes(store: JobStore, capability: Any) -> bool:
    return isinstance(store, capability)


def _asynchronous(store: JobStore) -> TransactionalStore[Any]:
    capability: Any = TransactionalStore
    instead = _IN_A_THREAD if _takes(store, SyncTransactionalStore) else DO_WITHOUT
    found: TransactionalStore[Any] = capable(store, capability, "enqueue(…, tx=…)", instead)
    return found


def _synchronous(store: JobStore) -> SyncTransactionalStore[Any]:
    capability: Any = SyncTransactionalStore
    found: SyncTransactionalStore[Any] = capable(store, capability, "enqueue_sync(…, tx=…)")
    return found


def _checked(requests: Iterable[NewJob]) -> list[NewJob]:
    """The requests as a list of our own: a generator would have been used up by the looking."""
    of_class("what to enqueue", requests, Iterable, "Give a list of requests; enqueue takes a single one.")
    given = list(requests)
    for request in given:
        of_class("a request", request, NewJob, "Make one with `.new(…)` of a job function or a JobType.")
    return given
