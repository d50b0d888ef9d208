"""What the kit is given to work on, and how little of it is needed."""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal

from klokka.core.ids import JobId
from klokka.spi.store import JobStore


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A store on fresh, empty data, and the hands that the kit has on it. Only `store` is needed.

    The kit opens and closes every handle that it uses; the factory removes the data. What is left out skips the
    checks that need it, and the report says so.
    """

    store: JobStore
    another: Callable[[], JobStore] | None = None
    """A further, unopened handle on the same data; `store.new_handle` if left out."""
    advance: Callable[[timedelta], object] | None = None
    """Moves the store's clock, also backwards. Without it the kit waits for short leases and skips exact edges."""
    transaction: Callable[[], AbstractAsyncContextManager[Any]] | None = None
    """A caller's own transaction, as `enqueue_in` takes it: commits at the normal end, rolls back on an exception."""
    savepoint: Callable[[Any], AbstractAsyncContextManager[object]] | None = None
    """A savepoint in such a transaction: undone when an exception leaves it."""
    sync_transaction: Callable[[], AbstractContextManager[Any]] | None = None
    """The same for `enqueue_in_sync`; entered and left on one thread."""
    sync_savepoint: Callable[[Any], AbstractContextManager[object]] | None = None
    unusable: Callable[[], AbstractAsyncContextManager[Any]] | None = None
    """A connection that is right but for this: an insert would commit by itself, or its transaction has failed."""
    sync_unusable: Callable[[], AbstractContextManager[Any]] | None = None
    """The same for `enqueue_in_sync`."""
    lock: Callable[[JobId], AbstractAsyncContextManager[object]] | None = None
    """Locks a job's row from a transaction of its own, as one does who stands still in the middle of a verb. For stores
    whose rows are locked one by one; with one writer there is no such thing."""
    cut: Callable[[], Awaitable[object]] | None = None
    """Ends the store's connections from the other side, as an administrator would."""
    hostile: Callable[[], Awaitable[object]] | None = None
    """Makes the defaults of database and role as unfavourable as they get, for handles that open afterwards."""
    reopen: Callable[[], JobStore] | None = None
    """An unopened handle on the same data for another process, by the store's real clock: a callable that pickles,
    such as `partial(open_store, url)`. Without it no process is killed."""
    server_clock: Literal[True] | None = None
    """Says that the store's clock is its server's, so that a process whose own clocks are hours off must not matter."""
    patience: timedelta = timedelta(seconds=10)
    """How long a slow machine may take for what comes by itself, such as a hint; a bound and no measure of speed."""

    def other(self) -> JobStore:
        """A further, unopened handle on the same data."""
        return self.store.new_handle() if self.another is None else self.another()


Factory = Callable[[], AbstractAsyncContextManager[Subject]]
"""Each entry gives fresh, empty data.

    @asynccontextmanager
    async def fresh_store():
        async with empty_database() as url:
            yield Subject(store=MyStore(url))
"""
