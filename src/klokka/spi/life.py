"""Opening, closing, handles, and what a store states of itself."""

import enum
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Protocol, Self, runtime_checkable

from klokka.core.limits import Limits


class Survives(enum.Enum):
    """What a committed effect outlives [life.durable]."""

    NOTHING = "nothing: it ends with the process"
    PROCESS = "the death of the process"
    MACHINE = "the death of the machine"


@dataclass(frozen=True, slots=True, kw_only=True)
class Traits:
    """What a store states of itself, so that nobody has to try."""

    name: str
    version: str
    """Of the store's software: the library's or the server's, where known before opening."""
    resolution: timedelta
    """Of stored instants; finer parts are cut off toward the past [time.resolution]."""
    bound: timedelta
    """The longest that a verb waits for somebody else's lock before `Busy` [enqueue.bounded] [claim.wait-free]."""
    survives: Survives
    looks_back: timedelta = timedelta(0)
    """How long claims may pass over work that comes behind the place to which they have read; nothing where each of them
    begins at the head [claim.look-back]."""
    limits: Limits = field(default_factory=Limits)


class StoreLife(Protocol):
    """How a store begins and ends.

    [life.durable] When a verb returns, its effects outlive what `traits.survives` names.
    [life.isolation] A store sets on its own connections all that it depends on.
    [life.deadlock] Any mix of verbs, ids and keys, in any order, finishes without an error of that sort.
    [life.errors] Only `klokka.errors` leave a store, the driver's own as the cause; refused input, outage, `Busy` and
    `UnknownOutcome` are different types, and no verb is repeated here whose repetition could change the result.
    [life.arguments] Leases, extensions and ttls are longer than nothing, a queue named twice counts once, an id or fence
    that cannot have been issued is unknown, not an error, and a limit beyond all there is takes all.
    [life.cancel] A verb cancelled at any await ends with the cancellation, in an outcome that the contract allows, and
    leaves the store usable.
    [life.loop] While a verb waits for a lock, a disk or a server, other work of its event loop goes on.
    [time.aware] Naive datetimes are refused before any write; every instant that comes back is aware and in UTC.
    [time.resolution] Instants are cut to `traits.resolution` toward the past and never drift.
    [time.backwards] When the clock steps back, fences, exclusivity, keys and completed ticks stand; leases and due
    times are late by the step at most.
    """

    @property
    def traits(self) -> Traits:
        """Limits, bounds and durability, known before `open`."""
        ...

    async def open(self) -> None:
        """Makes the handle usable on the running event loop, migrating the schema where that is due.

        [life.open] Idempotent, and safe from many processes at once. A handle belongs to the loop that opened it.

        Raises:
            SchemaMismatch: the data is newer than this code, foreign or damaged.
            StoreUnavailable: it cannot be reached.
            MisuseError: opened before on another loop.
        """
        ...

    async def close(self) -> None:
        """Releases what the handle holds; idempotent [life.open]. Verbs after it raise `MisuseError`."""
        ...

    def new_handle(self) -> Self:
        """A further, unopened handle on the same data, for another loop or thread [life.open]."""
        ...

    async def now(self) -> datetime:
        """The store's clock.

        [time.store-clock] Every comparison in every verb uses this clock at the time of the statement; no verb takes
        the caller's time for it.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Migrations:
    """Where a schema stands: `current` is 0 before the first migration."""

    current: int
    latest: int


@runtime_checkable
class MigratableStore(Protocol):
    """A store with a schema that people may want to see and to change themselves."""

    async def schema(self) -> Migrations:
        """The schema's version and this code's, without changing anything."""
        ...

    async def migrate(self) -> Migrations:
        """Brings the schema to this code's version and returns where it stood before [life.open].

        Idempotent, safe from many processes at once, resumable after an interruption.

        Raises:
            SchemaMismatch: newer than this code, foreign or damaged.
        """
        ...

    def migration_sql(self) -> str:
        """All migrations as one script, for people who apply them by hand."""
        ...
