"""What a check works with: the store under test, a few verbs with defaults, time that passes, and crowds."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from random import Random
from typing import Any, Final, TypeVar

from klokka.core.ids import JobId, WorkerId
from klokka.core.instants import EPOCH
from klokka.core.records import ClaimedJob, JobDetails, NewJob
from klokka.core.states import Enqueued, Failed, Running, Scheduled, State
from klokka.spi.jobs import NO_CAPS
from klokka.spi.store import JobStore
from klokka.tck.capabilities import Capabilities, Lacking
from klokka.tck.crowds import gathered, threaded
from klokka.tck.journal import Journal
from klokka.tck.subject import Factory, Subject
from klokka.tck.violations import expect, present

H = TypeVar("H")
R = TypeVar("R")

HOUR: Final = timedelta(hours=1)
MINUTE: Final = timedelta(minutes=1)
SECOND: Final = timedelta(seconds=1)
KIND: Final = "tck.job"
OTHER_KIND: Final = "tck.other"
QUEUE: Final = "default"
WORKER: Final = WorkerId("tck-worker-a")
OTHER_WORKER: Final = WorkerId("tck-worker-b")


@dataclass(frozen=True, slots=True)
class Moment:
    """The store's clock before and after something was done. With a clock that stands still both are equal."""

    start: datetime
    end: datetime


class Bench(Capabilities):
    """One subject, for one check. What it opens it closes."""

    def __init__(self, subject: Subject, *, factory: Factory | None = None, seed: int = 0) -> None:
        self.journal = Journal()
        """What this check asked and was answered, on all its handles."""
        super().__init__(self.journal.watch(subject.store))
        self.subject = subject
        self.factory = factory
        self.seed = seed
        """What all chance in this check comes from; each check has its own, drawn from the run's and its name."""
        self.random = Random(seed)
        self.shortened: str | None = None
        """Why the check saw less than its seed says, if it did."""
        self._opened: list[JobStore] = []

    def cut_short(self, why: str) -> None:
        """Says that time has ended the check before it had done all that its seed says."""
        self.shortened = why
        self.journal.note(f"is cut short: {why}")

    async def open(self) -> None:
        self._opened.append(self.store)
        await self.store.open()

    async def close(self) -> None:
        for store in reversed(self._opened):
            await store.close()

    @asynccontextmanager
    async def fresh(self, seed: int) -> AsyncGenerator["Bench"]:
        """A bench on further fresh data, open, for checks that begin anew many times."""
        async with _given("factory", self.factory)() as subject:
            bench = Bench(subject, seed=seed)
            try:
                await bench.open()
                yield bench
            finally:
                await bench.close()

    def other(self) -> JobStore:
        """A further, unopened handle on the same data."""
        return self.journal.watch(self.subject.other())

    async def handle(self) -> JobStore:
        """A further handle on the same data, open on this loop."""
        store = self.other()
        self._opened.append(store)
        await store.open()
        return store

    async def gathered(self, number: int, work: Callable[[JobStore, int], Awaitable[R]]) -> list[R]:
        """The results of `work` on that many handles of this loop at once."""
        return await gathered([await self.handle() for _ in range(number)], work)

    async def threaded(self, number: int, work: Callable[[JobStore, int], Awaitable[R]]) -> list[R]:
        """The results of `work` on that many threads at once, each with its own loop and handle."""
        return await threaded([self.other() for _ in range(number)], work)

    # what the factory gives beside the store

    def transaction(self) -> AbstractAsyncContextManager[Any]:
        return _given("transaction", self.subject.transaction)()

    def savepoint(self, tx: object) -> AbstractAsyncContextManager[object]:
        return _given("savepoint", self.subject.savepoint)(tx)

    def sync_transaction(self) -> AbstractContextManager[Any]:
        return _given("sync_transaction", self.subject.sync_transaction)()

    def sync_savepoint(self, tx: object) -> AbstractContextManager[object]:
        return _given("sync_savepoint", self.subject.sync_savepoint)(tx)

    def unusable(self) -> AbstractAsyncContextManager[Any]:
        return _given("unusable", self.subject.unusable)()

    def sync_unusable(self) -> AbstractContextManager[Any]:
        return _given("sync_unusable", self.subject.sync_unusable)()

    @property
    def reopen(self) -> Callable[[], JobStore]:
        """Unopened handles on the same data by the store's real clock, in this process or another."""
        return _given("reopen", self.subject.reopen)

    def locked(self, job: JobId) -> AbstractAsyncContextManager[object]:
        return _given("lock", self.subject.lock)(job)

    async def cut_connections(self) -> None:
        await _given("cut", self.subject.cut)()
        self.journal.note("cuts the store's connections")

    async def make_defaults_hostile(self) -> None:
        await _given("hostile", self.subject.hostile)()

    def move_clock(self, by: timedelta) -> None:
        """Moves the store's clock, also backwards."""
        _given("advance", self.subject.advance)(by)
        self.journal.note(f"moves the store's clock by {by}")

    # time

    @property
    def step(self) -> timedelta:
        """The smallest difference of instants that the store keeps."""
        return self.store.traits.resolution

    @property
    def short(self) -> timedelta:
        """A lease or wait that a check lets end: no time at all where the clock is in our hand."""
        return timedelta(milliseconds=150) if self.subject.advance is None else MINUTE

    async def pass_time(self, by: timedelta) -> None:
        """Lets at least `by` pass on the store's clock; exactly `by` where the clock is in our hand."""
        if self.subject.advance is not None:
            self.move_clock(by)
            return
        self.journal.note(f"waits until the store's clock has gone on by {by}")
        until = await self.store.now() + by
        while (left := until - await self.store.now()) > timedelta(0):  # noqa: ASYNC110 - nothing signals a clock
            await asyncio.sleep(left.total_seconds())

    def let_go_on(self) -> None:
        """Moves a clock that stands still, so that now is another instant than before."""
        if self.subject.advance is not None:
            self.move_clock(SECOND)

    def cut(self, at: datetime) -> datetime:
        """The instant as a store of this resolution keeps it [time.resolution]."""
        return at - (at - EPOCH) % self.step

    async def timed(self, act: Awaitable[R]) -> tuple[R, Moment]:
        """The result of `act`, and the store's clock around it."""
        start = self.cut(await self.store.now())
        result = await act
        return result, Moment(start, await self.store.now())

    # jobs

    def new(self, **changes: Any) -> NewJob:
        """A request, with fields of `NewJob` changed."""
        return replace(NewJob(kind=KIND, payload="{}"), **changes)

    async def enqueue_one(self, **changes: Any) -> JobId:
        (result,) = await self.store.enqueue([self.new(**changes)])
        return result.id

    async def enqueue_many(self, number: int, **changes: Any) -> list[JobId]:
        return [result.id for result in await self.store.enqueue([self.new(**changes) for _ in range(number)])]

    async def claim(
        self,
        *,
        queues: Sequence[str] = (QUEUE,),
        kinds: Collection[str] = (KIND,),
        limit: int = 100,
        lease: timedelta = HOUR,
        worker: WorkerId = WORKER,
        caps: Mapping[str, int] = NO_CAPS,
        store: JobStore | None = None,
    ) -> list[ClaimedJob]:
        """`claim` with defaults."""
        verb = (self.store if store is None else store).claim
        return await verb(queues=queues, kinds=kinds, limit=limit, lease=lease, worker=worker, caps=caps)

    async def claimed_ids(self, **arguments: Any) -> list[JobId]:
        return [job.id for job in await self.claim(**arguments)]

    async def claim_one(self, **arguments: Any) -> ClaimedJob:
        """The only job that a claim gives."""
        jobs = await self.claim(**arguments)
        expect(len(jobs)).equals(1, "a claim gives the one job that is due, and nothing else")
        return jobs[0]

    async def claimed(self, *, lease: timedelta = HOUR, worker: WorkerId = WORKER, **changes: Any) -> ClaimedJob:
        """A new job, held by `worker`. No other job of its kind may be due in its queue."""
        new = self.new(**changes)
        await self.store.enqueue([new])
        return await self.claim_one(queues=[new.queue], kinds=[new.kind], lease=lease, worker=worker)

    async def settle(self, job: ClaimedJob, to: State, **more: Any) -> None:
        """Ends a claim as its holder."""
        done = await self.store.transition(job.id, from_=Running(), to=to, fence=job.fence, **more)
        expect(done).equals(True, "the holder of the current fence may end its claim")

    async def standing(self, state: State, **changes: Any) -> JobId:
        """A new job that stands in `state`. One that waits does so for the time in the state, or for an hour."""
        if isinstance(state, Scheduled):
            return await self.enqueue_one(run_at=HOUR if state.at is None else state.at, **changes)
        if isinstance(state, Enqueued):
            return await self.enqueue_one(**changes)
        job = await self.claimed(**changes)
        if isinstance(state, Failed):
            await self.settle(job, Failed(HOUR if state.retry_at is None else state.retry_at))
        elif not isinstance(state, Running):
            await self.settle(job, state)
        return job.id

    async def details(self, job: JobId) -> JobDetails:
        """All that the store shows of a job that it must know."""
        return present(await self.query.get_job(job), "a job that was enqueued and not removed is known")


def _given(name: str, hand: H | None) -> H:
    if hand is None:
        raise Lacking(f"the factory gives no `{name}`")
    return hand
