"""The alarm for the failure that has no error: a job that does not succeed any more."""

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Protocol

from klokka.core.instants import positive
from klokka.core.names import check_kind
from klokka.core.records import JobQuery
from klokka.core.states import JobStatus
from klokka.recurring.entry import spelled
from klokka.spi.keys import IdempotencyStore
from klokka.spi.query import QueryableStore

_SCOPE: Final = "klokka.watch"
_RECENT: Final = 100
_LONG: Final = timedelta(days=3650)
"""A staleness has one key, the success before it, so the key may be kept for longer than any staleness lasts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stale:
    """A job type without a success for longer than `within`; `last_success` None: none is known."""

    kind: str
    within: timedelta
    last_success: datetime | None


class SuccessHistory(Protocol):
    """Knows when a job type succeeded last."""

    async def last_success(self, kind: str, /) -> datetime | None: ...


class StoreHistory:
    """The successes that a Klokka store still keeps: its retention must be longer than what is watched for."""

    def __init__(self, store: QueryableStore) -> None:
        self._store = store

    async def last_success(self, kind: str, /) -> datetime | None:
        jobs = await self._store.list_jobs(JobQuery(kind=kind, status=JobStatus.SUCCEEDED, limit=_RECENT))
        return max((job.terminal_at for job in jobs if job.terminal_at is not None), default=None)


class SuccessWatch:
    """Reports each expected job type that goes stale, once per staleness for all replicas; give it as `watch`.

    One that never succeeded counts from when it was first watched. A report that fails is tried again.
    """

    def __init__(
        self,
        history: SuccessHistory,
        idempotency: IdempotencyStore,
        report: Callable[[Stale], Awaitable[None] | None],
    ) -> None:
        self._history = history
        self._idempotency = idempotency
        self._report = report
        self._expected: dict[str, timedelta] = {}
        self._since: dict[str, datetime] = {}
        self._seen: dict[str, datetime] = {}
        """The last success that was seen, since a history may forget it before the next one."""

    def expect_success(self, kind: str, *, within: timedelta) -> None:
        """Expects a success of `kind` at least once in `within`; again for the same kind replaces it.

        Raises:
            InvalidInput: or one of its kinds: a bad kind, or a time that is not longer than nothing.
        """
        self._expected[check_kind(kind)] = positive(within, "within")

    async def __call__(self, now: datetime) -> None:
        """Looks at all that is expected."""
        for kind, within in list(self._expected.items()):
            since = self._since.setdefault(kind, now)
            last = await self._history.last_success(kind) or self._seen.get(kind)
            if last is not None:
                self._seen[kind] = last
            if now - (last or since) > within:
                await self._tell(Stale(kind=kind, within=within, last_success=last))

    async def _tell(self, stale: Stale) -> None:
        key = f"{stale.kind}:{'never' if stale.last_success is None else spelled(stale.last_success)}"
        token = await self._idempotency.claim_key(_SCOPE, key, _LONG)
        if token is None:
            return
        try:
            told = self._report(stale)
            if inspect.isawaitable(told):
                await told
        except Exception:
            await self._idempotency.release_key(_SCOPE, key, token)
            raise
