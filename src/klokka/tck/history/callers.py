"""Callers that do at random what producers, workers, operators and tickers do, and write down what came of it."""

import threading
import time
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random
from typing import Any, Final

from klokka.core.ids import Fence, JobId, KeyToken, ScheduleId, WorkerId
from klokka.core.records import Change, ClaimedJob, NewJob
from klokka.core.schedule_records import ScheduleFire, ScheduleSpec
from klokka.core.states import Cancelled, DeadLettered, Enqueued, Failed, Running, Scheduled, State, Succeeded
from klokka.spi.batch import BatchingStore
from klokka.spi.operate import OperableStore
from klokka.spi.store import JobStore
from klokka.tck.bench import HOUR, KIND, MINUTE, QUEUE, SECOND, Bench
from klokka.tck.history.moments import Moments
from klokka.tck.history.record import History

KEYS: Final = ("key1", "key2")
SCHEDULES: Final = (ScheduleId("s1"), ScheduleId("s2"))
NAMES: Final = ("name1", "name2")
STEPS: Final = (0, 1, 2, 3, 5, 10, 30, 100)
"""After how many steps of the loop a verb is cancelled."""
_CANCELLED: Final = 0.12


@dataclass(slots=True)
class Ground:
    """What the callers of one round share. Lists only grow, so that any thread may read them."""

    bench: Bench
    history: History
    begin: datetime
    jobs: list[JobId] = field(default_factory=list[JobId])
    claims: list[tuple[ClaimedJob, WorkerId]] = field(default_factory=list[tuple[ClaimedJob, WorkerId]])
    fires: list[ScheduleFire] = field(default_factory=list[ScheduleFire])
    tokens: list[tuple[str, KeyToken]] = field(default_factory=list[tuple[str, KeyToken]])
    fences: list[tuple[str, Fence]] = field(default_factory=list[tuple[str, Fence]])
    clock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def exact(self) -> bool:
        """Whether time moves only when it is moved."""
        return self.bench.subject.advance is not None

    def moments(self) -> Moments:
        """What time it was, once the round is over."""
        return Moments(self.begin, self.history.operations)


class Caller:
    """One of them, on a handle of its own."""

    def __init__(self, ground: Ground, store: JobStore, number: int) -> None:
        self.ground = ground
        self.store = store
        self.number = number
        self.random = Random(f"{ground.bench.seed}:{number}")
        self.worker = WorkerId(f"w{number}")
        self._payloads = 0

    async def ask(self, verb: str, **asked: Any) -> Any:
        """What a verb answers; None if it was refused, cancelled or cut."""
        steps = self.random.choice(STEPS) if self.random.random() < _CANCELLED else None
        act = getattr(self.store, verb)(**asked)
        return await self.ground.history.recorded(self.number, verb, asked, act, steps=steps)

    async def pass_time(self) -> None:
        """Moves the store's clock, if it is in our hand."""
        by = self.random.choice((SECOND, MINUTE, MINUTE))
        if self.ground.exact:
            with self.ground.clock:
                begun = time.monotonic()
                self.ground.bench.move_clock(by)
                self.ground.history.note(self.number, "advance", {"by": by}, None, begun)

    async def cut(self) -> None:
        """Ends everybody's connections, if the factory knows how."""
        if self.ground.bench.subject.cut is not None:
            await self.ground.bench.cut_connections()

    def lease(self) -> timedelta:
        """One that ends within the round only where time is in our hand."""
        return self.random.choice((MINUTE, MINUTE, HOUR)) if self.ground.exact else HOUR

    def wait(self, length: timedelta) -> timedelta:
        """A wait that ends within the round only where time is in our hand: a machine may stall for seconds."""
        return length if self.ground.exact else HOUR

    def new(self, **fields: Any) -> NewJob:
        """A request that can be told from all others by its payload."""
        self._payloads += 1
        return NewJob(kind=KIND, payload=f"{self.number}-{self._payloads}", **fields)


class JobCaller(Caller):
    """Does everything to a few jobs."""

    async def go(self, steps: int) -> None:
        acts = [self.enqueue, self.claim, self.claim, self.settle, self.settle, self.settle, self.beat, self.look]
        acts += [self.change, self.pass_time]
        if isinstance(self.store, OperableStore):
            acts.append(self.operate)
        if isinstance(self.store, BatchingStore):
            acts.append(self.settle_many)
        for _ in range(steps):
            await self.random.choice(acts)()
        if self.number == 0:
            await self.cut()

    async def enqueue(self) -> None:
        keys = [self.random.choice((None, *KEYS)) for _ in range(self.random.randint(1, 3))]
        results = await self.ask("enqueue", jobs=[self.new(unique_key=key) for key in keys])
        self.ground.jobs += [result.id for result in results or () if result.created]

    async def claim(self) -> None:
        jobs = await self.ask(
            "claim",
            queues=[QUEUE],
            kinds=[KIND],
            limit=self.random.randint(1, 4),
            lease=self.lease(),
            worker=self.worker,
        )
        self.ground.claims += [(job, self.worker) for job in jobs or ()]

    async def settle(self) -> None:
        if (change := self._settlement()) is not None:
            await self.ask("transition", id=change.id, from_=change.from_, to=change.to, fence=change.fence)

    async def settle_many(self) -> None:
        changes = [change for _ in range(3) if (change := self._settlement()) is not None]
        await self.ask("transition_many", changes=changes)

    async def change(self) -> None:
        """As somebody who holds nothing."""
        if self.ground.jobs:
            from_: State = self.random.choice((Enqueued(), Running(), Failed(), Cancelled(), DeadLettered()))
            await self.ask("transition", id=self._job(), from_=from_, to=self._target())

    async def beat(self) -> None:
        if self.ground.claims:
            some = [self._claim() for _ in range(3)]
            worker = some[0][1]
            held = {job.id: job.fence for job, _ in some}
            await self.ask("heartbeat", held=held, worker=worker, extend=self.lease())

    async def look(self) -> None:
        if self.ground.jobs:
            await self.ask("get_job", id=self._job())

    async def operate(self) -> None:
        if self.ground.jobs:
            await self.ask(self.random.choice(("cancel", "requeue", "requeue", "delete")), id=self._job())

    def _settlement(self) -> Change | None:
        if not self.ground.claims:
            return None
        job, _ = self._claim()
        return Change(id=job.id, from_=Running(), to=self._target(), fence=job.fence)

    def _target(self) -> State:
        return self.random.choice(
            (
                Succeeded(),
                DeadLettered(),
                Cancelled(),
                Enqueued(),
                Failed(timedelta(0)),
                Failed(self.wait(MINUTE)),
                Scheduled(self.wait(SECOND)),
            )
        )

    def _claim(self) -> tuple[ClaimedJob, WorkerId]:
        """One of the last claims of anybody, which may be over."""
        return self.random.choice(self.ground.claims[-6:])

    def _job(self) -> JobId:
        return self.random.choice(self.ground.jobs[-6:])


class ScheduleCaller(Caller):
    """Fires a few schedules, and changes them under the fires."""

    async def go(self, steps: int) -> None:
        acts = [self.due, self.due, self.complete, self.complete, self.complete, self.upsert, self.pass_time]
        if isinstance(self.store, OperableStore):
            acts.append(self.pause)
        for _ in range(steps):
            await self.random.choice(acts)()

    async def upsert(self) -> None:
        specs = [
            ScheduleSpec(
                id=id_,
                kind=KIND,
                fingerprint=self.random.choice(("v1", "v1", "v2")),
                description="",
                fire_at=self.ground.begin - HOUR,
            )
            for id_ in self.random.sample(SCHEDULES, 1)
        ]
        await self.ask("upsert_schedules", specs=specs)

    async def due(self) -> None:
        ids = self.random.sample(SCHEDULES, self.random.randint(1, 2))
        fires = await self.ask("due_schedules", ids=ids, limit=2, lease=self.lease(), worker=self.worker)
        self.ground.fires += fires or ()

    async def complete(self) -> None:
        if self.ground.fires:
            fire = self.random.choice(self.ground.fires[-3:])
            next_at = fire.scheduled_for + SECOND
            runs = [self.new(schedule_id=fire.schedule_id) for _ in range(2)]
            await self.ask(
                "complete_fire", schedule_id=fire.schedule_id, fence=fire.fence, runs=runs, next_fire_at=next_at
            )

    async def pause(self) -> None:
        id_ = self.random.choice(SCHEDULES)
        if self.random.random() < 0.4:
            await self.ask("pause_schedule", id=id_, reason="r")
        else:
            await self.ask("resume_schedule", id=id_, next_fire_at=self.ground.begin - HOUR)


class KeyCaller(Caller):
    """Claims and frees a few idempotency keys."""

    async def go(self, steps: int) -> None:
        for _ in range(steps):
            await self.random.choice((self.claim, self.claim, self.release, self.pass_time))()

    async def claim(self) -> None:
        key = self.random.choice(NAMES)
        token = await self.ask("claim_key", scope="scope", key=key, ttl=self.lease())
        if token is not None:
            self.ground.tokens.append((key, token))

    async def release(self) -> None:
        if self.ground.tokens:
            key, token = self.random.choice(self.ground.tokens[-3:])
            await self.ask("release_key", scope="scope", key=key, token=token)


class LeaseCaller(Caller):
    """Takes and gives back a few leases, and moves their cursors."""

    async def go(self, steps: int) -> None:
        acts = (self.acquire, self.acquire, self.release, self.move, self.move, self.pass_time)
        for _ in range(steps):
            await self.random.choice(acts)()

    async def acquire(self) -> None:
        name = self.random.choice(NAMES)
        fence = await self.ask("acquire_lease", name=name, owner=self.worker, ttl=self.lease())
        if fence is not None:
            self.ground.fences.append((name, fence))

    async def release(self) -> None:
        await self.ask("release_lease", name=self.random.choice(NAMES), owner=self.worker)

    async def move(self) -> None:
        if self.ground.fences:
            name, fence = self.random.choice(self.ground.fences[-3:])
            to = self.ground.begin + self.random.randint(0, 50) * SECOND
            await self.ask("advance_cursor", name=name, to=to, lease=name, fence=fence)
