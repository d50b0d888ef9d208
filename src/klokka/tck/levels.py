"""How far a store may go: the core, schedules, and each capability; and which clauses belong to which."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from klokka.spi.batch import BatchingStore
from klokka.spi.fleet import FleetStore
from klokka.spi.keys import IdempotencyStore, LeaseStore
from klokka.spi.operate import OperableStore, ProgressStore
from klokka.spi.query import QueryableStore
from klokka.spi.store import JobStore
from klokka.spi.transactions import SyncTransactionalStore, TransactionalStore
from klokka.spi.wakeups import PushCapableStore
from klokka.tck.interceptor import CORE_VERBS, SCHEDULE_VERBS


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """A part of the contract that a store offers as a whole or not at all."""

    name: str
    groups: tuple[str, ...]
    """The first words of its clauses."""
    protocols: tuple[type[Any], ...] = ()
    """A store with any of these offers it."""
    verbs: frozenset[str] = frozenset()
    """A store with all of these offers it."""

    def has(self, clause: str) -> bool:
        """Whether the clause belongs here."""
        return clause.partition(".")[0] in self.groups

    def lacking(self, store: JobStore) -> str | None:
        """Why `store` does not offer this, or None if it does."""
        missing = sorted(verb for verb in self.verbs if not hasattr(store, verb))
        if missing:
            return f"the store has no {', '.join(missing)}"
        if self.protocols and not isinstance(store, self.protocols):
            return f"the store is no {' or '.join(protocol.__name__ for protocol in self.protocols)}"
        return None


LEVELS: Final = (
    Level(
        name="core",
        groups=("time", "enqueue", "claim", "heartbeat", "transition", "sweep", "life"),
        verbs=CORE_VERBS,
    ),
    Level(name="schedules", groups=("schedule",), verbs=SCHEDULE_VERBS),
    Level(name="wakeups", groups=("wakeups",), protocols=(PushCapableStore,)),
    Level(name="query", groups=("query",), protocols=(QueryableStore,)),
    Level(name="transactions", groups=("tx",), protocols=(TransactionalStore, SyncTransactionalStore)),
    Level(name="batch", groups=("batch",), protocols=(BatchingStore,)),
    Level(name="operate", groups=("operate",), protocols=(OperableStore,)),
    Level(name="progress", groups=("progress",), protocols=(ProgressStore,)),
    Level(name="fleet", groups=("fleet",), protocols=(FleetStore,)),
    Level(name="idempotency", groups=("key",), protocols=(IdempotencyStore,)),
    Level(name="leases", groups=("lease",), protocols=(LeaseStore,)),
)


def level_of(clause: str) -> Level:
    """The level that a clause belongs to."""
    return next(level for level in LEVELS if level.has(clause))


def clauses_by_level(clauses: Iterable[str]) -> dict[Level, list[str]]:
    """The clauses of each level, sorted; levels without any are left out."""
    sorted_clauses = sorted(set(clauses))
    found = {level: [clause for clause in sorted_clauses if level.has(clause)] for level in LEVELS}
    return {level: of_level for level, of_level in found.items() if of_level}
