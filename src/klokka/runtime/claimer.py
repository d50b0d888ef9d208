"""Finds work: claims up to the free places and a little ahead, and sleeps exactly until there may be more."""

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Final

from klokka.core.ids import WorkerId
from klokka.errors import StoreError
from klokka.runtime.executor import JobExecutor
from klokka.runtime.handlers import Handler
from klokka.runtime.held import Held, HeldJobs
from klokka.runtime.outages import Outage
from klokka.runtime.pace import HORIZON, MOST, Pace
from klokka.runtime.settings import WorkerSettings
from klokka.runtime.settler import Settler
from klokka.runtime.slots import Room, Slots
from klokka.runtime.verdict import not_to_be_started, put_back
from klokka.spi.store import JobStore

logger = logging.getLogger("klokka.claimer")

_UNSTARTED_FOR: Final = 2 * HORIZON
"""Seconds after which work claimed ahead and still not started goes back to whoever is free."""
_UNWRITTEN: Final = 3 * MOST
"""Results that may wait for the store before claiming waits for them."""
_CROWDED: Final = 0.05
_SHORTEST_REST: Final = 0.01


class Claimer:
    """Claims only kinds that have a handler here, from queues in drain order, within their caps.

    Where a claim came back short it rests until the next due time, a wakeup, or `poll`. A claim in flight is never
    cancelled: what it brings after `stop` is handed back. Belongs to the loop.
    """

    def __init__(
        self,
        store: JobStore,
        handlers: Mapping[str, Handler],
        settings: WorkerSettings,
        *,
        worker: WorkerId,
        held: HeldJobs,
        slots: Slots,
        pace: Pace,
        executor: JobExecutor,
        settler: Settler,
    ) -> None:
        self._store = store
        self._handlers = handlers
        self._kinds = tuple(handlers)
        self._queues = tuple(queue.name for queue in settings.queues)
        self._lease = settings.lease
        self._poll = settings.poll.total_seconds()
        self._most = settings.concurrency + MOST + _UNWRITTEN
        self._worker = worker
        self._held = held
        self._slots = slots
        self._pace = pace
        self._executor = executor
        self._settler = settler
        self._stir = asyncio.Event()
        self._hinted = False
        self._stopping = asyncio.Event()
        self._careful = False
        self._fruitless = 0
        self._outage = Outage("claiming jobs from the store")

    def hint(self) -> None:
        """Work may be ready: look at once, or again if a look is under way."""
        self._hinted = True
        self._stir.set()

    def stop(self) -> None:
        """Claims no more; `run` returns when the claim in flight has come back."""
        self._stopping.set()
        self._stir.set()

    async def run(self) -> None:
        """Claims until stopped."""
        while not self._stopping.is_set():
            ahead = 0 if self._careful or self._executor.suspects else self._pace.ahead
            room = self._slots.room(ahead)
            if room.limit <= ahead // 2 or self._must_wait():
                await self._wait_for_room(ahead)
                continue
            if self._careful:
                room = Room(limit=1, caps=room.caps)
            self._hinted = False
            batch = await self._claim(room)
            if batch is not None:
                await self._take_in(batch)
                if not self._careful and len(batch) < room.limit:
                    await self._rest(room, batch)

    # Claiming

    async def _claim(self, room: Room) -> list[Held] | None:
        """The claims of one call; None after an outage, which was waited for a little."""
        sent = time.monotonic()
        try:
            jobs = await self._store.claim(
                queues=self._queues,
                kinds=self._kinds,
                limit=room.limit,
                lease=self._lease,
                worker=self._worker,
                caps=room.caps,
            )
        except StoreError as error:
            await self._back_off(error)
            return None
        self._outage.over()
        deadline = sent + self._lease.total_seconds()
        if time.monotonic() >= deadline:
            logger.warning("a claim took longer than its lease: %d jobs are left until it has run out", len(jobs))
            return []
        return [Held(job, self._handlers[job.kind], claimed=sent, deadline=deadline) for job in jobs]

    async def _take_in(self, batch: Sequence[Held]) -> None:
        for held in batch:
            self._executor.hold(held)
        self._careful = any(held.job.lapses for held in batch) and not self._executor.draining
        if self._careful:
            batch = await self._one_suspect(batch)
        for held in batch:
            self._executor.admit(held)
        self._executor.start_waiting()
        if self._careful:
            await asyncio.sleep(0)  # it begins before anything else is claimed

    async def _one_suspect(self, batch: Sequence[Held]) -> Sequence[Held]:
        """The first lapsed job that may start, once this process holds no other unstarted claim.

        It may be what killed its last worker, and what it takes along must not be charged for it. For the same reason
        nothing is claimed ahead while it runs.
        """
        suspect: Held | None = None
        others: list[Held] = []
        for held in batch:
            dead_letter = not_to_be_started(held.job, held.handler)
            if dead_letter is not None:
                self._executor.close(held, dead_letter)
            elif suspect is None and held.job.lapses:
                suspect = held
            else:
                others.append(held)
        for held in others:
            self._executor.close(held, put_back(held.job))
        if self._executor.put_back() or others:
            await self._settler.flushed()
        return [] if suspect is None else [suspect]

    # Resting

    def _must_wait(self) -> bool:
        """Whether nothing may be claimed though there are places."""
        return len(self._held) >= self._most or (self._careful and self._slots.waiting > 0)

    async def _wait_for_room(self, ahead: int) -> None:
        if len(self._held) >= self._most:
            await self._pause(_CROWDED)
            return
        below = self._slots.total + ahead - ahead // 2
        self._slots.call_when_roomy(self._stir.set, below=below)
        await self._pause(self._poll)

    async def _rest(self, room: Room, batch: Sequence[Held]) -> None:
        """Sleeps after a short answer until there may be more; a full queue is looked at again when it has room.

        While nothing is due a poll only asks when something will be: a claim takes locks even where it finds nothing.
        """
        taken = Counter(held.job.queue for held in batch)
        tight = frozenset(queue for queue, cap in room.caps.items() if taken[queue] >= cap)
        others = [queue for queue in self._queues if queue not in tight]
        fruitless = not batch
        while True:
            try:
                wait = await self._until_due(others, fruitless=fruitless)
            except StoreError as error:
                await self._back_off(error)
                return
            caps = self._slots.room(0).caps
            if self._hinted or wait <= 0 or any(caps[queue] > 0 for queue in tight):
                return
            self._slots.call_when_roomy(self._stir.set, tight=tight)
            if await self._pause(wait) or wait < self._poll:
                return
            fruitless = False

    async def _until_due(self, queues: Sequence[str], *, fruitless: bool) -> float:
        """Seconds until a claim would give something, by the store's clock, and `poll` at most.

        What is due already and was not given is being decided on by somebody else: a little later, then less often.
        """
        due = await self._store.next_due(queues=queues, kinds=self._kinds) if queues else None
        if due is None:
            self._fruitless = 0
            return self._poll
        wait = (due - await self._store.now()).total_seconds()
        if wait > 0 or not fruitless:
            self._fruitless = 0
            return min(wait, self._poll)
        self._fruitless += 1
        return min(_SHORTEST_REST * 2.0 ** min(self._fruitless, 20), self._poll)

    async def _pause(self, seconds: float) -> bool:
        """Waits to be stirred, and says whether it was; gives back what was claimed ahead and is not started in time."""
        self._stir.clear()
        if self._slots.waiting:
            seconds = min(seconds, _UNSTARTED_FOR)
        if not self._stopping.is_set():
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._stir.wait()
        self._slots.call_when_roomy(None)
        if self._slots.waiting and self._executor.put_back(before=time.monotonic() - _UNSTARTED_FOR):
            self._pace.slow_down()
        return self._stir.is_set() or self._stopping.is_set()

    async def _back_off(self, error: StoreError) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(self._outage.failed(error)):
                await self._stopping.wait()
