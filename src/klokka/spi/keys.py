"""The capabilities behind enqueue-once and the leased ticker: idempotency keys, leases with a cursor."""

from datetime import datetime, timedelta
from typing import Protocol, runtime_checkable

from klokka.core.ids import Fence, JobId, KeyToken
from klokka.core.records import NewJob


@runtime_checkable
class IdempotencyStore(Protocol):
    """A store of claimed keys; their records outlive any job."""

    async def claim_key(self, scope: str, key: str, ttl: timedelta) -> KeyToken | None:
        """A token for the one caller that claims (scope, key); None for all others until `ttl` has passed.

        [key.once] By the store's clock; exactly at the ttl the key is free.
        """
        ...

    async def release_key(self, scope: str, key: str, token: KeyToken) -> bool:
        """Frees the key if `token` is the one that claimed it and the ttl has not passed, and says whether it did [key.owner].

        False changes nothing: this token held the key no more, whether its ttl had passed, it was released before, or
        somebody else has claimed the key since. True alone says that the key was kept until now.
        """
        ...


@runtime_checkable
class EnqueueOnceStore(IdempotencyStore, Protocol):
    """An idempotency store that keeps jobs too, and so loses nothing between the two."""

    async def enqueue_once(self, job: NewJob, *, scope: str, key: str, ttl: timedelta) -> JobId | None:
        """Claims the key and stores the job in one transaction; None for a duplicate of (scope, key).

        [key.atomic] Both or neither.

        Raises:
            UniqueConflict: the job's unique key is held; neither was written.
        """
        ...


@runtime_checkable
class LeaseStore(Protocol):
    """A store of named leases, each with a cursor that only its holder moves."""

    async def acquire_lease(self, name: str, owner: str, ttl: timedelta) -> Fence | None:
        """The fence under which `owner` holds `name` for `ttl` from now; None if another holds it.

        [lease.one] One owner at a time by the store's clock. The owner's own call renews and keeps the fence; any
        acquisition after the end, the same owner's too, gets a higher one.
        """
        ...

    async def release_lease(self, name: str, owner: str) -> bool:
        """Ends the lease now if `owner` holds it, and says whether it did. The fence does not restart [lease.one]."""
        ...

    async def read_cursor(self, name: str) -> datetime | None:
        """Where the cursor of `name` stands; None before its first move [lease.cursor]."""
        ...

    async def advance_cursor(self, name: str, to: datetime, *, lease: str, fence: Fence) -> bool:
        """Moves the cursor of `name` to `to`, and says whether it did.

        [lease.cursor] Forward only, and only under the current fence of the unexpired lease named `lease`.
        """
        ...
