"""Tells the fleet that this worker is alive, where the store keeps a fleet."""

import asyncio
import os
import socket
from collections.abc import Callable
from datetime import timedelta

from klokka.core.worker_records import WorkerBeat
from klokka.errors import StoreError
from klokka.runtime.outages import Outage
from klokka.spi.fleet import FleetStore


class Beats:
    """Sends a beat at a third of a lease and lets it last for a lease, so that one may be late."""

    def __init__(self, store: object, beat: Callable[[], WorkerBeat], lease: timedelta) -> None:
        self._store = store if isinstance(store, FleetStore) else None
        self._beat = beat
        self._lease = lease
        self._outage = Outage("telling the fleet of this worker")

    async def run(self) -> None:
        """Beats until cancelled; returns at once where the store keeps no fleet."""
        if self._store is None:
            return
        while True:
            wait = self._lease.total_seconds() / 3
            try:
                await self._store.beat(self._beat(), live_for=self._lease)
            except StoreError as error:
                wait = min(wait, self._outage.failed(error))
            else:
                self._outage.over()
            await asyncio.sleep(wait)

    async def retire(self) -> None:
        """Says that this worker ends; one that cannot is forgotten when its last beat is over."""
        if self._store is not None:
            try:
                await self._store.retire(self._beat().id)
            except StoreError as error:
                self._outage.failed(error)


def this_process() -> tuple[str, int]:
    """Where this worker runs, for people: host and pid are no identity."""
    return socket.gethostname(), os.getpid()
