"""What an app consists of, wired together once, and how that is opened and closed."""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Self

from klokka.app.blocking import BlockingSide
from klokka.app.connection import Connection
from klokka.app.producer import Producer
from klokka.app.registry import Registry
from klokka.core.policies import Exponential, RetryPolicy
from klokka.core.queues import Queue, in_drain_order
from klokka.core.records import RetentionPolicy
from klokka.runtime.bus import EventBus
from klokka.runtime.handlers import Handler, Interceptor
from klokka.runtime.settings import WorkerSettings
from klokka.spi.store import JobStore
from klokka.stores.open import store_of

if TYPE_CHECKING:  # an app without schedules does not pay for them
    from klokka.app.schedules import Schedules


class Parts:
    """Where the verbs of an app find what they need; see `Klokka`."""

    def __init__(
        self,
        store: str | JobStore,
        *,
        concurrency: int = 10,
        queues: Sequence[Queue | str] | None = None,
        retry: RetryPolicy | None = None,
        lease: timedelta = timedelta(seconds=30),
        grace: timedelta = timedelta(seconds=25),
        retention: RetentionPolicy | None = None,
    ) -> None:
        self._connection = Connection(store_of(store))
        self._blocking = BlockingSide(lambda: self._connection.origin)
        self._bus = EventBus()
        self._producer = Producer(self._connection, self._blocking, self._bus)
        self._registry = Registry(Exponential() if retry is None else retry)
        self._interceptors: list[Interceptor] = []
        self._queues = None if queues is None else in_drain_order(queues)
        self._settings = WorkerSettings(
            concurrency=concurrency,
            lease=lease,
            grace=grace,
            retention=RetentionPolicy() if retention is None else retention,
        )

    # What is there

    @property
    def store(self) -> JobStore:
        """The store as it was given, unopened: for `traits`, capabilities, and handles of one's own."""
        return self._connection.origin

    @property
    def handlers(self) -> Mapping[str, Handler]:
        """How each kind that has a handler here is run."""
        return self._registry

    @property
    def interceptors(self) -> tuple[Interceptor, ...]:
        """What wraps every handler, the outermost first."""
        return tuple(self._interceptors)

    @property
    def events(self) -> EventBus:
        """Where what happens is told; `on` is the way to listen."""
        return self._bus

    @cached_property
    def schedules(self) -> "Schedules":
        """What recurs, by id, and the verbs for it: `trigger_now`, `pause`, `resume`, `states`."""
        from klokka.app.schedules import Schedules

        return Schedules(self._connection, self._blocking, self._producer, self._bus)

    # Opening and closing

    async def opened(self) -> JobStore:
        """The app's open store on the running loop, for the verbs that have no shorthand here.

        Raises:
            MisuseError: the app is open on another event loop.
        """
        return await self._connection.opened()

    @asynccontextmanager
    async def on_store(self, store: JobStore) -> AsyncGenerator[None]:
        """For tests: the app on another store, open for the length of the block.

        Raises:
            MisuseError: the app is open already.
        """
        async with self._connection.replaced_by(store), self:
            yield

    async def close(self) -> None:
        """Closes what was opened, on the loop and behind the sync verbs; a later verb opens it anew. Idempotent."""
        await self._connection.close()
        await asyncio.to_thread(self._blocking.close)

    def close_sync(self) -> None:
        """Closes what the sync verbs opened."""
        self._blocking.close()

    async def __aenter__(self) -> Self:
        await self._connection.enter()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self._connection.leave()
