"""Idempotency keys, named leases and the cursors under them."""

import secrets
from datetime import datetime, timedelta
from typing import Final

from klokka.core.ids import Fence, JobId, KeyToken
from klokka.core.instants import instant, micros
from klokka.core.records import NewJob
from klokka.errors import UniqueConflict
from klokka.stores._sql.statements import statement
from klokka.stores.sqlite.inserts import enqueue
from klokka.stores.sqlite.plans import reach
from klokka.stores.sqlite.transaction import Transaction

_CLAIM_KEY: Final = statement("klokka.stores.sqlite", "claim_key")
_RELEASE_KEY: Final = statement("klokka.stores.sqlite", "release_key")
_ACQUIRE_LEASE: Final = statement("klokka.stores.sqlite", "acquire_lease")
_RELEASE_LEASE: Final = statement("klokka.stores.sqlite", "release_lease")
_READ_CURSOR: Final = statement("klokka.stores.sqlite", "read_cursor")
_ADVANCE_CURSOR: Final = statement("klokka.stores.sqlite", "advance_cursor")


def claim_key(tx: Transaction, scope: str, key: str, ttl: timedelta) -> KeyToken | None:
    """A token for whoever claims a free key."""
    now = tx.now()
    token = secrets.token_hex(16)
    return KeyToken(token) if tx.changed(_CLAIM_KEY, (scope, key, token, reach(now, ttl, "ttl"), now)) else None


def release_key(tx: Transaction, scope: str, key: str, token: KeyToken) -> bool:
    """Frees a key for its token, while its claim lasts."""
    return tx.changed(_RELEASE_KEY, (scope, key, token, tx.now()))


def enqueue_once(tx: Transaction, job: NewJob, *, scope: str, key: str, ttl: timedelta) -> JobId | None:
    """Claims the key and stores the job; the error undoes both.

    Raises:
        UniqueConflict: the job's unique key is held.
    """
    if claim_key(tx, scope, key, ttl) is None:
        return None
    (result,) = enqueue(tx, [job])
    if not result.created:
        raise UniqueConflict(
            f"Job {result.id} is live and holds the unique key; neither job nor idempotency key was written. "
            f"Wait until it has ended, or leave the unique key out.",
            holder=result.id,
        )
    return result.id


def acquire_lease(tx: Transaction, name: str, owner: str, ttl: timedelta) -> Fence | None:
    """The fence under which `owner` holds the lease now."""
    now = tx.now()
    fence = tx.value(_ACQUIRE_LEASE, (name, owner, reach(now, ttl, "ttl"), now))
    return None if fence is None else Fence(fence)


def release_lease(tx: Transaction, name: str, owner: str) -> bool:
    """Ends the owner's lease."""
    return tx.changed(_RELEASE_LEASE, (name, owner, tx.now()))


def read_cursor(tx: Transaction, name: str) -> datetime | None:
    """Where the cursor stands."""
    at = tx.value(_READ_CURSOR, (name,))
    return None if at is None else instant(at)


def advance_cursor(tx: Transaction, name: str, to: datetime, *, lease: str, fence: Fence) -> bool:
    """Moves the cursor forward under the lease."""
    return tx.changed(_ADVANCE_CURSOR, (name, micros(to), lease, fence, tx.now()))
