"""Fires what is due: claims it, decides on it, and stores its runs together with the next fire."""

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from klokka.core.events import Enqueued, Fired, Misfired
from klokka.core.ids import JobId, ScheduleId, WorkerId
from klokka.core.instants import MICROSECOND
from klokka.core.records import EnqueueResult
from klokka.core.schedule_records import ScheduleFire, ScheduleSpec
from klokka.errors import StoreError
from klokka.runtime.agenda import Agenda
from klokka.runtime.bus import EventBus
from klokka.runtime.complaints import Complaints
from klokka.runtime.firing import Firing, firing
from klokka.runtime.mismatches import Mismatches
from klokka.runtime.outages import Outage
from klokka.runtime.overlaps import LOOK_EVERY, Overlaps
from klokka.runtime.recurrence import Recurrence
from klokka.spi.store import JobStore

_BATCH: Final = 1000
_AT_ONCE: Final = 64
"""Completions under way together; a store with one writer commits them as one."""
_LONGEST_LEASE: Final = timedelta(seconds=10)
"""A fire is decided in milliseconds, so one whose worker died need not wait for as long as a job."""


class Ticker:
    """Registers the schedules of one worker and fires them, each tick for the whole fleet once.

    The fence of a fire and the one transaction of `complete_fire` keep ticks apart; the store's clock alone counts. It
    sleeps until the next tick that it knows of; `poll` is the net under that, for what others do to the rows. A
    schedule that fails, and one that is defined otherwise by another worker, stops no other. Belongs to one loop,
    which is not that of the handlers.
    """

    def __init__(
        self,
        store: JobStore,
        recurrences: Sequence[Recurrence],
        *,
        worker: WorkerId,
        bus: EventBus,
        lease: timedelta,
        poll: timedelta,
    ) -> None:
        self._store = store
        self._recurrences = {recurrence.id: recurrence for recurrence in recurrences}
        self._unregistered = set(self._recurrences)
        self._worker = worker
        self._bus = bus
        self._lease = min(lease, _LONGEST_LEASE)
        self._poll = poll.total_seconds()
        self._complaints = Complaints()
        self._agenda = Agenda(self._recurrences, self._complaints)
        self._overlaps = Overlaps(store)
        self._mismatches = Mismatches(store, worker, leave_for=3 * self._lease)
        self._decided: dict[ScheduleId, Firing] = {}
        """What is decided and not known to be stored."""
        self._unfinished = False
        self._failure: StoreError | None = None
        self._outage = Outage("firing schedules", longest=self._poll)
        self._pass: asyncio.Task[list[JobId]] | None = None

    async def run(self) -> None:
        """Fires until cancelled; a pass that is under way then goes on, and `finished` waits for it."""
        while True:
            self._pass = asyncio.create_task(self.tick())
            try:
                await asyncio.shield(self._pass)
                wait = await self._until_next()
            except StoreError as error:
                wait = self._outage.failed(error)
            else:
                self._outage.over()
            await asyncio.sleep(wait)

    async def finished(self) -> None:
        """Returns when the last pass has ended, however it ended."""
        if self._pass is not None:
            await asyncio.gather(self._pass, return_exceptions=True)

    async def tick(self) -> list[JobId]:
        """One pass: fires all that is due now, and gives the ids of the runs.

        Raises:
            StoreError: what was claimed and not stored is tried again in the next pass, by anyone when its lease ends.
        """
        self._failure = None
        await self._register()
        runs = await self._complete()
        runs += await self._take(self._overlaps.waiting)
        more = True
        while more and (ids := self._recurrences.keys() - self._mismatches.left_alone):
            fires = await self._store.due_schedules(ids=ids, limit=_BATCH, lease=self._lease, worker=self._worker)
            self._unfinished = False
            runs += await self._take(fires)
            more = self._unfinished or len(fires) == _BATCH
        if self._failure is not None:
            raise self._failure
        return runs

    async def _until_next(self) -> float:
        wait = self._agenda.wait(await self._store.now())
        longest = min(self._poll, LOOK_EVERY) if self._overlaps else self._poll
        return longest if wait is None else min(wait, longest)

    # Rows

    async def _register(self) -> None:
        """Makes the rows of all that is not registered yet agree with the definitions here."""
        if not self._unregistered:
            return
        now = await self._store.now()
        specs = [spec for known in sorted(self._unregistered) if (spec := self._spec(known, now)) is not None]
        await self._store.upsert_schedules(specs)
        self._unregistered -= {spec.id for spec in specs}

    def _spec(self, id: ScheduleId, after: datetime) -> ScheduleSpec | None:
        try:
            return self._recurrences[id].spec(after)
        except Exception as error:  # a user's calendar may raise anything
            self._complaints.failed(id, "computing its first tick", error)
            return None

    async def _differs(self, fire: ScheduleFire) -> bool:
        """Whether a fire is of another definition than this node's, which leaves it alone."""
        schedule = fire.schedule_id
        if fire.fingerprint == self._recurrences[schedule].fingerprint:
            self._mismatches.over(schedule)
            return False
        if await self._mismatches.lasts(fire):
            # The tick that nobody has fired is not lost by that: ours at or after it is the first.
            spec = self._spec(schedule, fire.scheduled_for - MICROSECOND)
            if spec is not None:
                await self._store.upsert_schedules([spec])
                self._mismatches.over(schedule)
        return True

    # Fires

    async def _take(self, fires: Sequence[ScheduleFire]) -> list[JobId]:
        """Decides on claimed fires and stores the decisions, a part at a time, so that the first need not wait."""
        runs: list[JobId] = []
        for start in range(0, len(fires), _AT_ONCE):
            await asyncio.gather(*map(self._decide, fires[start : start + _AT_ONCE]))
            runs += await self._complete()
        return runs

    async def _decide(self, fire: ScheduleFire) -> None:
        if await self._differs(fire):
            return
        recurrence = self._recurrences[fire.schedule_id]
        held_back = fire.schedule_id in self._overlaps
        if await self._overlaps.busy(recurrence):
            self._overlaps.keep(fire)
            return
        now = await self._store.now() if held_back else fire.now
        self._overlaps.release(fire.schedule_id)
        try:
            made = firing(recurrence, fire, now=now, held_back=held_back)
        except Exception as error:  # a user's calendar may raise anything
            self._complaints.failed(fire.schedule_id, "deciding on its fire", error)
        else:
            self._decided[fire.schedule_id] = made
            self._unfinished = self._unfinished or made.unfinished

    async def _complete(self) -> list[JobId]:
        """Stores what is decided. What the store cannot take now stays decided; a repetition applies once."""
        runs: list[JobId] = []
        decided = list(self._decided.values())
        for answer, made in zip(await asyncio.gather(*map(self._store_one, decided)), decided, strict=True):
            if isinstance(answer, StoreError):
                self._failure = answer
                continue
            del self._decided[made.recurrence.id]
            if isinstance(answer, Exception):
                self._complaints.failed(made.recurrence.id, "storing its runs", answer)
            elif answer is not None:
                self._complaints.over(made.recurrence.id)
                runs += [result.id for result in answer]
                self._tell(made, answer)
        return runs

    async def _store_one(self, made: Firing) -> list[EnqueueResult] | Exception | None:
        try:
            return await self._store.complete_fire(
                made.fire.schedule_id, fence=made.fire.fence, runs=made.runs, next_fire_at=made.next_fire_at
            )
        except Exception as error:  # judged by the caller
            return error

    def _tell(self, made: Firing, results: Sequence[EnqueueResult]) -> None:
        schedule, request = made.recurrence.id, made.recurrence.request
        for tick, result in zip(made.ticks, results, strict=True):
            if self._bus.wants(Enqueued):
                self._bus.tell(Enqueued(id=result.id, kind=request.kind, queue=request.queue, created=result.created))
            if self._bus.wants(Fired) and result.created:
                self._bus.tell(Fired(schedule=schedule, kind=request.kind, scheduled_for=tick, id=result.id))
        refused = 0 if made.recurrence.overlap else sum(not result.created for result in results)
        missed = made.missed.number + refused
        if missed and self._bus.wants(Misfired):
            self._bus.tell(
                Misfired(schedule=schedule, kind=request.kind, missed=missed, at_least=not made.missed.exact)
            )
