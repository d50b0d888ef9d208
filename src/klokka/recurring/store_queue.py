"""A Klokka store as a queue of the leased ticker."""

from collections.abc import Hashable, Mapping
from datetime import timedelta
from types import MappingProxyType
from typing import Any, Final, cast

from klokka.core.arguments import count, of_class
from klokka.core.codecs import Codec, codec_for
from klokka.core.headers import MAX_ATTEMPTS
from klokka.core.ids import JobId
from klokka.core.names import check_queue
from klokka.core.records import NO_HEADERS, NewJob
from klokka.errors import InvalidInput, UniqueConflict
from klokka.recurring.ports import Request
from klokka.spi.keys import EnqueueOnceStore
from klokka.spi.store import JobStore

_JSON: Final[Codec[Any]] = codec_for(cast(Hashable, Any))


class StoreQueue:
    """Enqueues into a store, in one transaction with the key where that store keeps the keys too.

    A limit of retries travels in the job's headers. Queues are drained in the order that workers name them, and there
    is no other priority, so a priority needs `priorities`: which queue each one means.
    """

    def __init__(self, store: JobStore, *, priorities: Mapping[int, str] | None = None) -> None:
        self._store = store
        self._priorities = dict(priorities or {})
        for queue in self._priorities.values():
            check_queue(queue)

    def admit(self, job: Request | NewJob, /) -> None:
        self._store.traits.limits.admit([self._new(job)])

    async def enqueue(self, job: Request | NewJob, /) -> JobId:
        (result,) = await self._store.enqueue([self._new(job)])
        if not result.created:
            raise UniqueConflict(
                f"job {result.id} holds the unique key of this {job.kind}; it was not enqueued.", holder=result.id
            )
        return result.id

    def keeps(self, idempotency: object) -> bool:
        return idempotency is self._store and isinstance(self._store, EnqueueOnceStore)

    async def enqueue_once(self, job: Request | NewJob, /, *, scope: str, key: str, ttl: timedelta) -> JobId | None:
        if not isinstance(self._store, EnqueueOnceStore):
            raise InvalidInput(f"{self._store.traits.name!r} keeps no keys. Ask `keeps` first.")
        return await self._store.enqueue_once(self._new(job), scope=scope, key=key, ttl=ttl)

    def _new(self, job: Request | NewJob) -> NewJob:
        if isinstance(job, NewJob):
            return job
        return NewJob(
            kind=job.kind,
            payload=_JSON.encode({} if job.args is None else job.args),
            queue=self._queue_of(job),
            run_at=job.scheduled_for,
            headers=NO_HEADERS if job.max_retries is None else _limited(job.kind, job.max_retries),
        )

    def _queue_of(self, job: Request) -> str:
        if job.priority is None:
            return "default" if job.queue is None else job.queue
        of_class(f"priority of {job.kind}", job.priority, int, "Give a number that priorities={…} has a queue for.")
        queue = self._priorities.get(job.priority)
        if queue is None:
            known = ", ".join(map(str, sorted(self._priorities))) or "none"
            raise InvalidInput(
                f"priority {job.priority} of {job.kind} means no queue here (known: {known}). The order of queues is "
                "the only priority: give priorities={…} with a queue for each, or name the queue."
            )
        if job.queue not in (None, queue):
            raise InvalidInput(
                f"priority {job.priority} of {job.kind} means queue {queue!r}, and {job.queue!r} is named. Give one."
            )
        return queue


def _limited(kind: str, max_retries: int) -> Mapping[str, str]:
    return MappingProxyType({MAX_ATTEMPTS: str(count(f"max_retries of {kind}", max_retries, 0) + 1)})
