"""The app's hold on its store: opened once, on one event loop, by whoever comes first."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from klokka.errors import MisuseError
from klokka.spi.store import JobStore


class Connection:
    """One handle for the loop that opens it, however many workers and producers on that loop share it."""

    def __init__(self, store: JobStore) -> None:
        self._origin = store
        self._store: JobStore | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._opening = asyncio.Lock()
        self._users = 0

    @property
    def origin(self) -> JobStore:
        """The store as it was given, opened or not: for `traits`, capabilities and further handles."""
        return self._origin

    async def opened(self) -> JobStore:
        """The open handle of the running loop, opening it at the first call.

        Raises:
            MisuseError: the app is open on another loop that still runs.
        """
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            if self._loop is not None and not self._loop.is_closed():
                raise MisuseError(
                    "this app is open on another event loop. Close it there first, use the sync verbs, "
                    "or make an app for each loop."
                )
            self._loop, self._store, self._opening = loop, None, asyncio.Lock()
        elif self._store is not None:
            return self._store
        async with self._opening:
            if self._store is None:
                store = self._origin.new_handle()
                await store.open()
                self._store = store
        return self._store

    async def close(self) -> None:
        """Closes the handle; a later verb opens a new one. Idempotent."""
        store, self._store, self._loop = self._store, None, None
        if store is not None:
            await store.close()

    async def enter(self) -> JobStore:
        """Like `opened`, and counted: the handle stays open until as many `leave`s have come."""
        store = await self.opened()
        self._users += 1
        return store

    async def leave(self) -> None:
        """Ends one `enter`; the last one closes the handle."""
        self._users -= 1
        if self._users == 0:
            await self.close()

    @asynccontextmanager
    async def replaced_by(self, store: JobStore) -> AsyncGenerator[None]:
        """For tests: another store in the place of the app's own, for the length of a block."""
        if self._store is not None:
            raise MisuseError("the app is open. Replace its store before anything is enqueued or run.")
        origin, self._origin = self._origin, store
        try:
            yield
        finally:
            await self.close()
            self._origin = origin
