"""Steps with idempotency keys, leases and cursors, workers and paused queues."""

from datetime import timedelta

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from klokka.core.ids import Fence, KeyToken, WorkerId
from klokka.core.records import NewJob
from klokka.core.worker_records import WorkerBeat
from klokka.spi.fleet import FleetStore
from klokka.spi.keys import EnqueueOnceStore, IdempotencyStore, LeaseStore
from klokka.tck.machine import choices
from klokka.tck.machine.play import Play, can
from klokka.tck.machine.stage import Hunt


class NameSteps(Play):
    """`tokens` and `fences` are all that were ever given, the outlived ones too."""

    def __init__(self, hunt: Hunt) -> None:
        super().__init__(hunt)
        self.tokens: list[tuple[str, KeyToken]] = []
        self.fences: list[tuple[str, Fence]] = []

    @can(LeaseStore)
    @rule(ttl=choices.lease)
    @precondition(lambda self: not self.fences)
    def begin_with_leases(self, ttl: timedelta) -> None:
        for name in choices.LEASES:
            self.acquire_lease(0, name, choices.WORKERS[0], ttl)

    @can(IdempotencyStore)
    @rule(on=choices.handle, key=choices.key, ttl=choices.lease)
    def claim_key(self, on: int, key: str, ttl: timedelta) -> None:
        seen = self.stage.answer(on, "claim_key", scope="scope", key=key, ttl=ttl)
        self.stage.names.claim_key(self.stage.now, seen, ("scope", key), ttl)
        if seen is not None:
            self.tokens.append((key, seen))

    @can(IdempotencyStore)
    @rule(on=choices.handle, which=choices.number)
    @precondition(lambda self: self.tokens)
    def release_key(self, on: int, which: int) -> None:
        key, token = self.tokens[-1 - which % len(self.tokens)]
        seen = self.stage.answer(on, "release_key", scope="scope", key=key, token=token)
        self.stage.names.release_key(self.stage.now, seen, ("scope", key), token)

    @can(EnqueueOnceStore)
    @rule(on=choices.handle, jobs=choices.jobs(1), key=choices.key, ttl=choices.lease)
    def enqueue_once(self, on: int, jobs: list[NewJob], key: str, ttl: timedelta) -> None:
        for job in jobs:
            seen = self.stage.ask(on, "enqueue_once", job=job, scope="scope", key=key, ttl=ttl)
            self.stage.names.enqueue_once(self.stage.now, seen, job, ("scope", key), ttl)

    @can(LeaseStore)
    @rule(on=choices.handle, name=choices.lease_name, owner=choices.worker, ttl=choices.lease)
    def acquire_lease(self, on: int, name: str, owner: str, ttl: timedelta) -> None:
        seen = self.stage.answer(on, "acquire_lease", name=name, owner=owner, ttl=ttl)
        self.stage.names.acquire(self.stage.now, seen, name, owner, ttl)
        if seen is not None:
            self.fences.append((name, seen))

    @can(LeaseStore)
    @rule(on=choices.handle, name=choices.lease_name, owner=choices.worker)
    def release_lease(self, on: int, name: str, owner: str) -> None:
        seen = self.stage.answer(on, "release_lease", name=name, owner=owner)
        self.stage.names.release(self.stage.now, seen, name, owner)

    @can(LeaseStore)
    @rule(on=choices.handle, which=choices.number, wait=choices.wait)
    @precondition(lambda self: self.fences)
    def advance_cursor(self, on: int, which: int, wait: timedelta) -> None:
        lease, fence = self.fences[-1 - which % len(self.fences)]
        to = self.stage.now + wait
        seen = self.stage.answer(on, "advance_cursor", name="cursor", to=to, lease=lease, fence=fence)
        self.stage.names.advance(self.stage.now, seen, "cursor", to, lease, fence)
        self.stage.names.read(self.stage.answer(on, "read_cursor", name="cursor"), "cursor")

    @can(FleetStore)
    @rule(on=choices.handle, worker=choices.worker, live_for=choices.lease, busy=st.integers(0, 2))
    def beat(self, on: int, worker: WorkerId, live_for: timedelta, busy: int) -> None:
        said = WorkerBeat(id=worker, host="h", pid=1, version="1", queues=("a",), kinds=("k",), slots=2, busy=busy)
        self.stage.answer(on, "beat", worker=said, live_for=live_for)
        self.stage.crew.beat(self.stage.now, said, live_for)

    @can(FleetStore)
    @rule(on=choices.handle, worker=choices.worker)
    def retire(self, on: int, worker: WorkerId) -> None:
        self.stage.answer(on, "retire", worker=worker)
        self.stage.crew.retire(worker)

    @can(FleetStore)
    @rule(on=choices.handle)
    def look_at_the_fleet(self, on: int) -> None:
        stage = self.stage
        stage.crew.listed(stage.now, stage.answer(on, "workers"))
