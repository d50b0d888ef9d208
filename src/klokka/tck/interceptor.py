"""A store behind a face that sees each of its verbs called, so that calls can be noted or sent again."""

from collections.abc import Awaitable, Callable, Iterator
from functools import cache
from typing import Any, Final, Protocol, cast

from klokka.spi.batch import BatchingStore
from klokka.spi.fleet import FleetStore
from klokka.spi.jobs import JobVerbs
from klokka.spi.keys import EnqueueOnceStore, IdempotencyStore, LeaseStore
from klokka.spi.life import MigratableStore, StoreLife
from klokka.spi.operate import OperableStore, ProgressStore
from klokka.spi.query import QueryableStore
from klokka.spi.schedules import ScheduleVerbs
from klokka.spi.store import JobStore
from klokka.spi.transactions import SyncTransactionalStore, TransactionalStore
from klokka.spi.wakeups import PushCapableStore
from klokka.tck.capabilities import Lacking


class LackingVerb(Lacking, AttributeError):
    """A verb of schedules was asked of a store that has none."""


CAPABILITIES: Final[tuple[type[Any], ...]] = (
    QueryableStore,
    BatchingStore,
    OperableStore,
    ProgressStore,
    FleetStore,
    PushCapableStore,
    TransactionalStore,
    SyncTransactionalStore,
    IdempotencyStore,
    EnqueueOnceStore,
    LeaseStore,
)
"""What a store may also do, each found by type."""

_NOT_AWAITED: Final = frozenset({"traits", "new_handle", "wakeups", "migration_sql", "enqueue_in_sync"})


class Around(Protocol):
    """What happens around a call: it is given the verb's name, its arguments and the verb to call with them."""

    async def awaited(
        self, verb: str, call: Callable[..., Awaitable[Any]], args: tuple[Any, ...], named: dict[str, Any]
    ) -> Any: ...

    def blocking(self, verb: str, call: Callable[..., Any], args: tuple[Any, ...], named: dict[str, Any]) -> Any: ...


def verbs_of(protocol: type[Any]) -> Iterator[str]:
    """The public names of a protocol of the contract, inherited ones too."""
    for base in protocol.__mro__:
        if base.__module__.startswith("klokka.spi."):
            yield from (name for name in vars(base) if not name.startswith("_"))


CORE_VERBS: Final = frozenset([*verbs_of(StoreLife), *verbs_of(JobVerbs)])
SCHEDULE_VERBS: Final = frozenset(verbs_of(ScheduleVerbs))


def intercepted(store: JobStore, around: Around) -> JobStore:
    """`store`, able to do the same, with `around` for every verb that asks something of the data.

    A store without the verbs of schedules skips the checks that use them; any other lack is the store's error.
    """
    protocols: tuple[type[Any], ...] = (MigratableStore, *CAPABILITIES)
    offered = {verb for protocol in protocols if isinstance(store, protocol) for verb in verbs_of(protocol)}
    offered |= {verb for verb in CORE_VERBS | SCHEDULE_VERBS if hasattr(store, verb)}
    return cast(JobStore, _face(frozenset(offered))(store, around))


@cache
def _face(verbs: frozenset[str]) -> type[Any]:
    """A class with exactly these verbs, since capabilities are found by what a class has."""
    members: dict[str, Any] = {verb: _seen(verb) for verb in verbs - _NOT_AWAITED}
    members |= {verb: _passed(verb) for verb in verbs & _NOT_AWAITED}
    if "enqueue_in_sync" in verbs:
        members["enqueue_in_sync"] = _seen_blocking("enqueue_in_sync")
    members["__init__"] = _keep
    members["__getattr__"] = _lack
    members["__slots__"] = ("around", "behind")
    return type("Intercepted", (), members)


def _keep(self: Any, store: JobStore, around: Around) -> None:
    self.behind = store
    self.around = around


def _seen(verb: str) -> Any:
    async def call(self: Any, *args: Any, **named: Any) -> Any:
        return await self.around.awaited(verb, getattr(self.behind, verb), args, named)

    return call


def _seen_blocking(verb: str) -> Any:
    def call(self: Any, *args: Any, **named: Any) -> Any:
        return self.around.blocking(verb, getattr(self.behind, verb), args, named)

    return call


def _lack(self: Any, name: str) -> Any:
    if name in SCHEDULE_VERBS:
        raise LackingVerb(f"the store has no {name}")
    raise AttributeError(f"{type(self.behind).__name__} has no {name}", name=name, obj=self)


def _passed(verb: str) -> Any:
    return property(lambda self: getattr(self.behind, verb))
