"""Keeps the leases of all that this process holds, and notices those that are lost."""

import asyncio
import logging
import time
from collections.abc import Callable
from datetime import timedelta

from klokka.core.ids import WorkerId
from klokka.errors import StoreError
from klokka.runtime.held import Held, HeldJobs, Phase
from klokka.runtime.outages import Outage
from klokka.spi.jobs import JobVerbs

logger = logging.getLogger("klokka.heartbeater")


class Heartbeater:
    """Renews every lease at a third of its length, from the claim until the last write about the job.

    A lease counts from before the renewal was sent, so a slow renewal is counted against it. One that ends by our
    own monotonic clock is lost, whatever the store might say: nothing is kept that cannot be proven. It runs on a
    loop of its own, since the handlers' loop may be blocked. `lost` is called on that loop's thread.
    """

    def __init__(
        self,
        store: JobVerbs,
        held: HeldJobs,
        *,
        worker: WorkerId,
        lease: timedelta,
        lost: Callable[[Held], None],
        blocked: Callable[[], bool],
    ) -> None:
        self._store = store
        self._held = held
        self._worker = worker
        self._lease = lease
        self._seconds = lease.total_seconds()
        self._lost = lost
        self._blocked = blocked
        self._outage = Outage("renewing leases", first=self._seconds / 20, longest=self._seconds / 6)

    async def run(self) -> None:
        """Renews until cancelled."""
        while True:
            began = time.monotonic()
            pause = await self._renew()
            await asyncio.sleep(max(0.0, pause - (time.monotonic() - began)))

    async def watch(self) -> None:
        """Ends leases by our own clock as they run out, also while a renewal hangs, until cancelled."""
        while True:
            now = time.monotonic()
            soonest = now + self._seconds / 6
            for held in self._held.snapshot():
                if held.deadline <= now:
                    self._lose(held)
                else:
                    soonest = min(soonest, held.deadline)
            await asyncio.sleep(max(0.005, soonest - now))

    async def _renew(self) -> float:
        """One renewal of all; gives the seconds from its beginning to the next."""
        sent = time.monotonic()
        ours = [held for held in self._held.snapshot() if held.deadline > sent and not self._hopeless(held, sent)]
        if ours:
            try:
                kept = await self._store.heartbeat(
                    {held.job.id: held.job.fence for held in ours}, worker=self._worker, extend=self._lease
                )
            except StoreError as error:
                return time.monotonic() - sent + self._outage.failed(error)
            self._outage.over()
            for held in ours:
                if held.job.id in kept:
                    held.deadline = max(held.deadline, sent + self._seconds)
                else:
                    self._lose(held)
        return self._seconds / 3

    def _hopeless(self, held: Held, now: float) -> bool:
        """Whether a blocked loop keeps a job from being ended though its timeout passed more than a lease ago."""
        return held.overdue_at is not None and now > held.overdue_at + self._seconds and self._blocked()

    def _lose(self, held: Held) -> None:
        if held.phase is not Phase.ENDED:  # else its write is under way, and the fence decides
            self._lost(held)
