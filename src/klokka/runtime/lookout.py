"""Listens for wakeups, where the store gives them."""

import asyncio
from collections.abc import Callable
from contextlib import aclosing

from klokka.errors import StoreError
from klokka.runtime.outages import Outage
from klokka.spi.store import JobStore
from klokka.spi.wakeups import PushCapableStore


class Lookout:
    """Passes every hint of the store on, and subscribes again when the subscription fails.

    Without it, and while it is down, work is found by polling.
    """

    def __init__(self, store: JobStore, hint: Callable[[], None]) -> None:
        self._store = store if isinstance(store, PushCapableStore) else None
        self._hint = hint
        self._outage = Outage("listening for wakeups")

    async def run(self) -> None:
        """Listens until cancelled; returns at once where the store gives no wakeups."""
        if self._store is None:
            return
        while True:
            try:
                async with aclosing(self._store.wakeups()) as wakeups:
                    async for _ in wakeups:
                        self._outage.over()
                        self._hint()
            except StoreError as error:
                await asyncio.sleep(self._outage.failed(error))
            else:
                await asyncio.sleep(self._outage.failed(ConnectionError("the store ended the subscription")))
