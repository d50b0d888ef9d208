"""Enqueueing under an idempotency key, with any queue."""

import asyncio
import logging
from datetime import timedelta
from typing import Final, TypeVar, cast

from klokka.core.ids import KeyToken
from klokka.errors import StoreError, UnknownOutcome
from klokka.recurring.ports import AtomicQueue, Kinded, Queue
from klokka.spi.keys import IdempotencyStore

logger = logging.getLogger("klokka.recurring")

K = TypeVar("K", bound=Kinded)

WEEK: Final = timedelta(days=7)


async def enqueue_once(
    queue: Queue[K],
    idempotency: IdempotencyStore,
    job: K,
    key: str,
    ttl: timedelta = WEEK,
    *,
    scope: str | None = None,
) -> int | str | None:
    """The id of the job, or None for a duplicate of (kind, key) within `ttl`; `scope` may stand for the kind.

    Where keys and jobs live in one store both are written in one transaction, and nothing is lost between them. With
    two systems the key is claimed first: a process that dies before the job is enqueued loses it, so it is
    enqueued at most once. The claim is released where the enqueue is known not to have happened, so that a retry can
    succeed; after an unknown outcome or a cancellation it stays.

    Raises:
        UniqueConflict: another live job holds the job's unique key; the claim is released.
        UnknownOutcome: the job may have been enqueued; the claim stays.
        Exception: whatever the queue raises; the claim is released.
    """
    scope = job.kind if scope is None else scope
    atomic = cast("AtomicQueue[K]", queue) if isinstance(queue, AtomicQueue) else None
    if atomic is not None and atomic.keeps(idempotency):
        return await atomic.enqueue_once(job, scope=scope, key=key, ttl=ttl)
    token = await idempotency.claim_key(scope, key, ttl)
    if token is None:
        return None
    try:
        return await queue.enqueue(job)
    except (UnknownOutcome, asyncio.CancelledError):
        raise
    except Exception:
        await _release(idempotency, scope, key, token)
        raise


async def _release(idempotency: IdempotencyStore, scope: str, key: str, token: KeyToken) -> None:
    try:
        await idempotency.release_key(scope, key, token)
    except StoreError as error:
        logger.warning(
            "the key %r of %s could not be released (%s); until its ttl is over it counts as used", key, scope, error
        )
