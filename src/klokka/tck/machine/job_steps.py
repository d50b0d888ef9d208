"""Steps with jobs: what producers, workers and operators do to them."""

from datetime import timedelta
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule

from klokka.core.ids import WorkerId
from klokka.core.records import Change, ClaimedJob, JobError, NewJob, RetentionPolicy
from klokka.core.states import (
    WAITING,
    Cancelled,
    DeadLettered,
    Enqueued,
    Failed,
    Running,
    Scheduled,
    State,
    Succeeded,
    status_of,
)
from klokka.spi.batch import BatchingStore
from klokka.spi.operate import ProgressStore
from klokka.spi.query import QueryableStore
from klokka.tck.machine import choices
from klokka.tck.machine.play import Play, can
from klokka.tck.machine.stage import Hunt

ENDS = (Succeeded(), DeadLettered(), Cancelled(), Enqueued())
ORIGINS = (Enqueued(), Scheduled(), Running(), Failed(), Succeeded(), DeadLettered(), Cancelled())
targets = st.sampled_from(ENDS) | st.builds(Scheduled, choices.wait) | st.builds(Failed, choices.wait)
errors = st.none() | st.builds(JobError, type=st.just("E"), message=st.sampled_from(["x", "y"]))


class JobSteps(Play):
    """`claims` are all that were ever given, the stale ones too: who holds one does not know that it is."""

    def __init__(self, hunt: Hunt) -> None:
        super().__init__(hunt)
        self.claims: list[tuple[ClaimedJob, WorkerId]] = []

    @initialize(jobs=choices.jobs(5, least=2))
    def begin_with_jobs(self, jobs: list[NewJob]) -> None:
        self.enqueue(0, jobs)

    @rule(on=choices.handle, jobs=choices.jobs())
    def enqueue(self, on: int, jobs: list[NewJob]) -> None:
        self.stage.forget_hints()
        seen = self.stage.answer(on, "enqueue", jobs=jobs)
        self.stage.work.enqueue(self.stage.now, jobs, seen)
        self.stage.look(result.id for result in seen)
        if any(result.created for result in seen):
            self.stage.expect_hint("wakeups.commit", "a hint follows every commit that makes work claimable")

    @rule(
        on=choices.handle,
        queues=choices.queues,
        kinds=choices.kinds,
        limit=choices.limit,
        lease=choices.lease,
        worker=choices.worker,
        caps=choices.caps,
    )
    def claim(self, on: int, **asked: Any) -> None:
        seen = self.stage.answer(on, "claim", **asked)
        self.stage.work.claim(self.stage.now, seen, **asked)
        self.stage.look(job.id for job in seen)
        self.claims += [(job, asked["worker"]) for job in seen]

    @rule(on=choices.handle, lease=choices.lease, worker=choices.worker)
    def claim_all(self, on: int, lease: timedelta, worker: WorkerId) -> None:
        asked: dict[str, Any] = {
            "queues": list(choices.QUEUES),
            "kinds": set(choices.KINDS),
            "limit": 100,
            "lease": lease,
            "worker": worker,
            "caps": {},
        }
        self.claim(on, **asked)

    @rule(lease=choices.lease, worker=choices.worker)
    @precondition(lambda self: not self.claims)
    def begin_to_work(self, lease: timedelta, worker: WorkerId) -> None:
        self.claim_all(0, lease, worker)

    @rule(on=choices.handle, lease=choices.lease, worker=choices.worker)
    @precondition(lambda self: self.claims)
    def take_jobs_over(self, on: int, lease: timedelta, worker: WorkerId) -> None:
        """The holders of all jobs die, and somebody else goes on."""
        self.stage.pass_time(choices.WAITS[-1])
        self.claim_all(on, lease, worker)

    @rule(on=choices.handle, queues=choices.queues, kinds=choices.kinds)
    def next_due(self, on: int, **asked: Any) -> None:
        self.stage.work.next_due(self.stage.now, self.stage.answer(on, "next_due", **asked), **asked)

    @rule(on=choices.handle, count=st.integers(1, 4), first=choices.number, extend=choices.lease)
    @precondition(lambda self: self.claims)
    def heartbeat(self, on: int, count: int, first: int, extend: timedelta) -> None:
        some = [self.claims[-1 - (first + more) % len(self.claims)] for more in range(count)]
        worker = some[0][1]
        held = {job.id: job.fence for job, _ in some}
        seen = self.stage.answer(on, "heartbeat", held=held, worker=worker, extend=extend)
        self.stage.work.heartbeat(self.stage.now, seen, held=held, worker=worker, extend=extend)
        self.stage.look(held)

    @rule(on=choices.handle, which=choices.number, to=targets, error=errors, refund=st.booleans())
    @precondition(lambda self: self.claims)
    def settle(self, on: int, which: int, to: State, error: JobError | None, refund: bool) -> None:
        self._change(on, self._ending(which, to, error, refund))

    @rule(on=choices.handle, which=choices.number, to=st.sampled_from(ENDS))
    @precondition(lambda self: self.claims)
    def end(self, on: int, which: int, to: State) -> None:
        self._change(on, self._ending(which, to, None, refund=False))

    @rule(on=choices.handle, which=choices.number, from_=st.sampled_from(ORIGINS), to=targets, error=errors)
    @precondition(lambda self: self.stage.work.jobs)
    def change(self, on: int, which: int, from_: State, to: State, error: JobError | None) -> None:
        self._change(on, Change(id=self.some_job(which), from_=from_, to=to, error=error))

    @rule(on=choices.handle, which=choices.number, late=choices.wait)
    @precondition(lambda self: self.stage.work.jobs)
    def change_from_time(self, on: int, which: int, late: timedelta) -> None:
        """Compares a time too, which may be the stored one or not."""
        job = self.stage.work.jobs[self.some_job(which)]
        at = (job.run_at if job.retry_at is None else job.retry_at) + late
        from_ = Scheduled(at) if job.retry_at is None else Failed(at)
        self._change(on, Change(id=job.id, from_=from_, to=Enqueued()))

    @can(BatchingStore)
    @rule(on=choices.handle, parts=st.lists(st.tuples(choices.number, targets, errors, st.booleans()), max_size=4))
    @precondition(lambda self: self.claims)
    def settle_many(self, on: int, parts: list[tuple[int, State, JobError | None, bool]]) -> None:
        changes = [self._ending(*part) for part in parts]
        seen = self.stage.answer(on, "transition_many", changes=changes)
        for change, applied in zip(changes, seen, strict=True):
            self.stage.work.change_of_batch(self.stage.now, applied, change)
        self.stage.look(change.id for change in changes)

    @rule(on=choices.handle, kept=choices.wait, dead=st.none() | choices.wait, limit=st.sampled_from([1, 1000]))
    def sweep(self, on: int, kept: timedelta, dead: timedelta | None, limit: int) -> None:
        stage = self.stage
        retention = RetentionPolicy(succeeded_for=kept, cancelled_for=kept, dead_lettered_for=dead)
        old = stage.work.sweepable(stage.now, retention)
        can_look = isinstance(stage.bench.store, QueryableStore)
        if not can_look or len(stage.names.past(stage.now)) > limit:
            limit = 1000
        seen = stage.answer(on, "sweep", retention=retention, limit=limit)
        gone = {id_ for id_ in old if stage.answer(on, "get_job", id=id_) is None} if can_look else old
        stage.work.sweep(stage.now, seen, retention=retention, limit=limit, gone=gone)
        stage.names.swept(stage.now, seen.keys)

    @can(ProgressStore)
    @rule(on=choices.handle, which=choices.number, value=st.sampled_from([0.0, 0.25, 1.0]))
    @precondition(lambda self: self.claims)
    def report_progress(self, on: int, which: int, value: float) -> None:
        job, _ = self.claims[-1 - which % len(self.claims)]
        seen = self.stage.answer(on, "report_progress", id=job.id, fence=job.fence, value=value)
        self.stage.work.progress(seen, job.id, job.fence, value)
        self.stage.look([job.id])

    def _change(self, on: int, change: Change) -> None:
        self.stage.forget_hints()
        asked = {"id": change.id, "from_": change.from_, "to": change.to, "fence": change.fence}
        seen = self.stage.ask(on, "transition", **asked, error=change.error, refund=change.refund)
        self.stage.work.change(self.stage.now, seen, change)
        self.stage.look([change.id])
        if seen is True and status_of(change.to) in WAITING:
            self.stage.expect_hint("wakeups.commit", "a change that makes work claimable owes a hint")

    def _ending(self, which: int, to: State, error: JobError | None, refund: bool) -> Change:
        job, _ = self.claims[-1 - which % len(self.claims)]
        return Change(id=job.id, from_=Running(), to=to, fence=job.fence, error=error, refund=refund)
