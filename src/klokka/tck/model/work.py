"""The jobs of the model and their paused queues: judges each answer of a verb, and goes on from it."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from klokka.core.ids import Fence, JobId, WorkerId
from klokka.core.records import Change, ClaimedJob, EnqueueResult, NewJob, RetentionPolicy, SweepReport
from klokka.core.states import TERMINAL, Cancelled, Enqueued, JobStatus, State, status_of
from klokka.errors import UniqueConflict
from klokka.tck.model.jobs import ModelJob
from klokka.tck.violations import Violation, expect


class Work:
    """Every job that is stored. Each method takes the store's now, what was asked, and what was answered."""

    def __init__(self) -> None:
        self.jobs: dict[JobId, ModelJob] = {}
        self.paused: dict[str, str] = {}
        self.last_id = JobId(0)

    def holder(self, key: str | None) -> JobId | None:
        """The live job that holds a unique key [enqueue.unique-life]."""
        live = (job.id for job in self.jobs.values() if job.new.unique_key == key and not job.terminal)
        return None if key is None else next(live, None)

    def enqueue(self, now: datetime, jobs: Sequence[NewJob], seen: Sequence[EnqueueResult]) -> None:
        expect(len(seen), "enqueue.order").equals(len(jobs), "one result for each job, in the order of the input")
        for new, result in zip(jobs, seen, strict=True):
            holder = self.holder(new.unique_key)
            if holder is not None:
                expect(result, "enqueue.unique", "enqueue.unique-life").equals(
                    EnqueueResult(id=holder, created=False), "the job that holds the key comes back"
                )
                continue
            expect(result.created, "enqueue.unique", "enqueue.unique-life").equals(
                True, "no live job holds the key, so that a job is made"
            )
            expect(result.id, "enqueue.ids").above(self.last_id, "ids grow, and none is given twice")
            self.last_id = result.id
            self.jobs[result.id] = ModelJob.born(result.id, new, now)

    def order(
        self, now: datetime, queues: Sequence[str], kinds: Collection[str], limit: int, caps: Mapping[str, int]
    ) -> list[JobId]:
        """The first `limit` of the order of claim [claim.order] [claim.queue-order] [claim.caps] [claim.exact]."""
        order: list[JobId] = []
        for queue in dict.fromkeys(queues):
            if queue in self.paused:
                continue
            due = [
                (job.status is not JobStatus.RUNNING, job.due, job.id)
                for job in self.jobs.values()
                if job.claimable(now) and job.new.queue == queue and job.new.kind in kinds
            ]
            room = limit - len(order)
            order += [id_ for _, _, id_ in sorted(due, key=lambda entry: entry)][: min(room, caps.get(queue, room))]
        return order

    def claim(
        self,
        now: datetime,
        seen: Sequence[ClaimedJob],
        *,
        queues: Sequence[str],
        kinds: Collection[str],
        limit: int,
        lease: timedelta,
        worker: WorkerId,
        caps: Mapping[str, int],
    ) -> None:
        expected = self.order(now, queues, kinds, limit, caps)
        ids = [job.id for job in seen]
        if ids != expected:
            clause = self._misgiven(now, ids, expected, queues, kinds, limit, caps)
            raise Violation("a claim gives the first of its order", seen=ids, expected=expected, clauses=(clause,))
        for claimed in seen:
            before = self.jobs[claimed.id]
            expect(claimed.fence, "claim.fence").above(
                before.fence, f"each claim of job {claimed.id} has a higher fence"
            )
            job = before.taken(fence=claimed.fence, worker=worker, until=now + lease)
            expect(claimed.attempt, "claim.attempt").equals(job.attempt, "each claim adds one to `attempt`")
            expect(claimed.lapses, "claim.lapses").equals(job.lapses, "a claim of an ended lease adds one to `lapses`")
            expect(claimed.lease_until, "claim.lease").equals(job.lease_until, "the store's now plus `lease`")
            expect(claimed.scheduled_for, "claim.scheduled-for").equals(job.scheduled_for, "its first `run_at`")
            expect(claimed, "enqueue.text", "enqueue.headers").equals(job.as_claimed(), "as it was enqueued")
            self.jobs[job.id] = job

    def _misgiven(
        self,
        now: datetime,
        seen: Sequence[JobId],
        expected: Sequence[JobId],
        queues: Sequence[str],
        kinds: Collection[str],
        limit: int,
        caps: Mapping[str, int],
    ) -> str:
        """The clause that a claim broke which gave these instead of those."""
        if seen and not (kinds and queues):
            return "claim.kinds-empty"
        if len(seen) > limit:
            return "claim.limit"
        if len(set(seen)) < len(seen):
            return "claim.exclusive"
        for id_ in seen:
            job = self.jobs.get(id_)
            if job is None or job.terminal or (job.status is JobStatus.RUNNING and not job.claimable(now)):
                return "claim.exclusive"
            if not job.claimable(now):
                return "claim.due"
            if job.new.kind not in kinds:
                return "claim.kinds"
            if job.new.queue in self.paused:
                return "fleet.pause"
            if job.new.queue not in queues:
                return "claim.queue-order"
        missing = [self.jobs[id_] for id_ in expected if id_ not in seen]
        if any(job.status is JobStatus.RUNNING for job in missing):
            return "claim.expired"
        given = Counter(self.jobs[id_].new.queue for id_ in seen)
        if any(given[queue] > cap for queue, cap in caps.items()):
            return "claim.caps"
        if list(given) != [queue for queue in dict.fromkeys(queues) if queue in given]:
            return "claim.queue-order"
        if any(job.due == now for job in missing):
            return "claim.due"
        return "claim.order" if len(seen) == len(expected) else "claim.exact"

    def next_due(
        self, now: datetime, seen: datetime | None, *, queues: Collection[str], kinds: Collection[str]
    ) -> None:
        times = [
            job.due
            for job in self.jobs.values()
            if job.due is not None
            and job.new.queue in queues
            and job.new.kind in kinds
            and job.new.queue not in self.paused
        ]
        earliest = min(times, default=None)
        if earliest is not None and earliest <= now:
            expect(seen, "claim.next-due").fulfils(
                lambda time: time is not None and time <= now, "a time that has come", "something is due now"
            )
        else:
            expect(seen, "claim.next-due").equals(earliest, "the earliest time at which a claim would give something")

    def heartbeat(
        self, now: datetime, seen: set[JobId], *, held: Mapping[JobId, Fence], worker: WorkerId, extend: timedelta
    ) -> None:
        really = {id_ for id_, fence in held.items() if id_ in self.jobs and self.jobs[id_].held(fence, worker, now)}
        expect(seen, "heartbeat.held").equals(really, "exactly the ids still held come back")
        for id_ in really:
            self.jobs[id_] = self.jobs[id_].extended(now + extend)

    def change(self, now: datetime, seen: bool | UniqueConflict, change: Change) -> None:
        """A transition. A batch answers False where a single one raises."""
        job = self.jobs.get(change.id)
        applies = False if job is None else job.stands(change.from_, change.fence, now)
        if job is None or applies is False:
            clause = "transition.cas" if change.fence is None else "transition.fence"
            expect(seen, clause).equals(False, "the job is not, or no more, where the change says")
            return
        rival = self._rival(job, change.to)
        if rival is not None:
            self._refused(seen, rival, allow_false=applies is None)
            return
        if applies is None:
            expect(seen, "transition.cas").is_in((True, False), "a change applies or does not")
        else:
            expect(seen, "transition.cas").equals(True, "the job stands where the change says")
        if seen is True:
            self.jobs[job.id] = job.moved(change.to, now, error=change.error, refund=change.refund)

    def change_of_batch(self, now: datetime, seen: bool, change: Change) -> None:
        job = self.jobs.get(change.id)
        if job is not None and job.stands(change.from_, change.fence, now) and self._rival(job, change.to) is not None:
            expect(seen, "batch.each").equals(False, "a conflicting change answers False")
            return
        self.change(now, seen, change)

    def cancel(self, now: datetime, seen: bool, id: JobId) -> None:
        job = self.jobs.get(id)
        live = job is not None and not job.terminal
        expect(seen, "operate.cancel").equals(live, "any job that is not terminal can be cancelled, and no other")
        if job is not None and live:
            self.jobs[id] = job.moved(Cancelled(), now)

    def requeue(self, now: datetime, seen: bool | UniqueConflict, id: JobId) -> None:
        job = self.jobs.get(id)
        ended = job is not None and job.terminal
        if job is not None and ended and (rival := self._rival(job, Enqueued())) is not None:
            self._refused(seen, rival, allow_false=False)
            return
        expect(seen, "operate.requeue").equals(ended, "any terminal job can be requeued, and no other")
        if job is not None and ended:
            self.jobs[id] = job.moved(Enqueued(), now)

    def delete(self, seen: bool, id: JobId) -> None:
        expect(seen, "operate.delete").equals(
            self.jobs.pop(id, None) is not None, "any job that is there, and no other"
        )

    def progress(self, seen: bool, id: JobId, fence: Fence, value: float) -> None:
        job = self.jobs.get(id)
        held = job is not None and job.status is JobStatus.RUNNING and job.fence == fence
        if not held:
            expect(seen, "progress.held").equals(False, "kept only while the job runs under this fence")
        elif seen and job is not None:
            self.jobs[id] = replace(job, progress=value)

    def sweepable(self, now: datetime, retention: RetentionPolicy) -> set[JobId]:
        """What is older than its retention; a job exactly as old stays [sweep.retention]."""
        kept_for = {
            JobStatus.SUCCEEDED: retention.succeeded_for,
            JobStatus.CANCELLED: retention.cancelled_for,
            JobStatus.DEAD_LETTERED: retention.dead_lettered_for,
        }
        return {
            job.id
            for job in self.jobs.values()
            if job.terminal_at is not None
            and (keep := kept_for[job.status]) is not None
            and now - job.terminal_at > keep
        }

    def sweep(
        self, now: datetime, seen: SweepReport, *, retention: RetentionPolicy, limit: int, gone: set[JobId]
    ) -> None:
        """`gone` are those of `sweepable` that the store does not know any more."""
        old = self.sweepable(now, retention)
        expect(gone, "sweep.retention").fulfils(lambda it: it <= old, f"some of {old}", "only what is old enough goes")
        expect(seen.jobs, "sweep.bounded").equals(len(gone), "it reports what it did")
        expect(seen.jobs, "sweep.bounded").equals(
            min(limit, len(old)), "at most `limit`, and no less where there is more"
        )
        if len(gone) < len(old):
            expect(seen.more, "sweep.bounded").equals(True, "some is left")
        for id_ in gone:
            del self.jobs[id_]

    def _rival(self, job: ModelJob, to: State) -> JobId | None:
        """Who keeps a terminal job from being opened again [transition.reopen]."""
        reopens = job.terminal and status_of(to) not in TERMINAL
        return self.holder(job.new.unique_key) if reopens else None

    @staticmethod
    def _refused(seen: bool | UniqueConflict, rival: JobId, *, allow_false: bool) -> None:
        if allow_false and seen is False:
            return
        holder = seen.holder if isinstance(seen, UniqueConflict) else seen
        expect(holder, "transition.reopen").equals(rival, "another live job holds the key, and the error names it")
