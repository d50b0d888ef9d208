"""The store under test, seen as each of the capabilities that it may have."""

from typing import Any, Protocol, TypeVar, cast, runtime_checkable

from klokka.spi.batch import BatchingStore
from klokka.spi.fleet import FleetStore
from klokka.spi.keys import EnqueueOnceStore, IdempotencyStore, LeaseStore
from klokka.spi.operate import OperableStore, ProgressStore
from klokka.spi.query import QueryableStore
from klokka.spi.schedules import ScheduleVerbs
from klokka.spi.store import JobStore
from klokka.spi.transactions import SyncTransactionalStore, TransactionalStore
from klokka.spi.wakeups import PushCapableStore

S = TypeVar("S")


class Lacking(Exception):
    """The subject cannot be asked this; the check is skipped with this reason."""


@runtime_checkable
class SchedulingStore(ScheduleVerbs, Protocol):
    """A store with the verbs of schedules, as every whole one is; the kit takes others up to the core."""


class Capabilities:
    """A store by capability. A check names what it uses in `needs`; asked for anything else, it is skipped."""

    def __init__(self, store: JobStore) -> None:
        self.store = store

    @property
    def query(self) -> QueryableStore:
        return self._seen_as(QueryableStore)

    @property
    def push(self) -> PushCapableStore:
        return self._seen_as(PushCapableStore)

    @property
    def batch(self) -> BatchingStore:
        return self._seen_as(BatchingStore)

    @property
    def operate(self) -> OperableStore:
        return self._seen_as(OperableStore)

    @property
    def progress(self) -> ProgressStore:
        return self._seen_as(ProgressStore)

    @property
    def fleet(self) -> FleetStore:
        return self._seen_as(FleetStore)

    @property
    def keys(self) -> IdempotencyStore:
        return self._seen_as(IdempotencyStore)

    @property
    def once(self) -> EnqueueOnceStore:
        return self._seen_as(EnqueueOnceStore)

    @property
    def leases(self) -> LeaseStore:
        return self._seen_as(LeaseStore)

    @property
    def tx(self) -> TransactionalStore[Any]:
        return self._seen_as(cast("type[TransactionalStore[Any]]", TransactionalStore))

    @property
    def sync_tx(self) -> SyncTransactionalStore[Any]:
        return self._seen_as(cast("type[SyncTransactionalStore[Any]]", SyncTransactionalStore))

    def _seen_as(self, capability: type[S]) -> S:
        if isinstance(self.store, capability):
            return self.store
        raise Lacking(f"the store is no {capability.__name__}")
