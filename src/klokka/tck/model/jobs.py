"""One job of the model: a frozen value, and what each verb makes of it."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from klokka.core.ids import Fence, JobId, WorkerId
from klokka.core.records import ClaimedJob, JobDetails, JobError, JobSummary, NewJob
from klokka.core.states import TERMINAL, JobStatus, State, status_of, time_of

_UNCLAIMED: Final = Fence(0)
_PLANNED: Final = (JobStatus.SCHEDULED, JobStatus.ENQUEUED)


def at(when: datetime | timedelta | None, now: datetime) -> datetime:
    """The instant that a plan means by the store's clock [time.store-clock]."""
    if when is None:
        return now
    return now + when if isinstance(when, timedelta) else when


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelJob:
    """What the contract says of one job.."""

    id: JobId
    new: NewJob
    status: JobStatus
    run_at: datetime
    enqueued_at: datetime
    scheduled_for: datetime
    attempt: int = 0
    lapses: int = 0
    fence: Fence = _UNCLAIMED
    lease_until: datetime | None = None
    holder: WorkerId | None = None
    retry_at: datetime | None = None
    terminal_at: datetime | None = None
    last_error: JobError | None = None
    progress: float | None = None

    @classmethod
    def born(cls, id: JobId, new: NewJob, now: datetime) -> "ModelJob":
        """A job that was just enqueued."""
        due = at(new.run_at, now)
        status = JobStatus.ENQUEUED if due <= now else JobStatus.SCHEDULED
        return cls(id=id, new=new, status=status, run_at=due, enqueued_at=now, scheduled_for=due)

    @property
    def terminal(self) -> bool:
        return self.status in TERMINAL

    @property
    def due(self) -> datetime | None:
        """From when on a claim may give it; None when it has ended."""
        if self.status in _PLANNED:
            return self.run_at
        return self.retry_at if self.status is JobStatus.FAILED else self.lease_until

    def claimable(self, now: datetime) -> bool:
        """[claim.due] [claim.expired]"""
        return self.due is not None and self.due <= now

    def statuses(self, now: datetime) -> tuple[JobStatus, ...]:
        """How it may be stored now: its promotion is the store's to time [enqueue.state]."""
        if self.status is JobStatus.SCHEDULED and self.run_at <= now:
            return _PLANNED
        return (self.status,)

    def taken(self, *, fence: Fence, worker: WorkerId, until: datetime) -> "ModelJob":
        """After a claim."""
        return replace(
            self,
            status=JobStatus.RUNNING,
            attempt=self.attempt + 1,
            lapses=self.lapses + (self.status is JobStatus.RUNNING),
            fence=fence,
            lease_until=until,
            holder=worker,
            retry_at=None,
            progress=None,
        )

    def held(self, fence: Fence, worker: WorkerId, now: datetime) -> bool:
        """Whether this claim still has its lease [heartbeat.held]."""
        alive = self.lease_until is not None and now < self.lease_until
        return self.status is JobStatus.RUNNING and alive and (self.fence, self.holder) == (fence, worker)

    def extended(self, until: datetime) -> "ModelJob":
        """After a heartbeat of a held claim [heartbeat.extends] [heartbeat.quiet]."""
        return replace(self, lease_until=until if self.lease_until is None else max(until, self.lease_until))

    def stands(self, from_: State, fence: Fence | None, now: datetime) -> bool | None:
        """Whether a change applies [transition.cas] [transition.fence]; None if the store's promotion decides it."""
        time = time_of(from_)
        stored = self.retry_at if self.status is JobStatus.FAILED else self.run_at
        statuses = self.statuses(now)
        if status_of(from_) not in statuses or fence not in (None, self.fence) or time not in (None, stored):
            return False
        return None if len(statuses) > 1 else True

    def moved(self, to: State, now: datetime, *, error: JobError | None = None, refund: bool = False) -> "ModelJob":
        """After a change that applied [transition.times] [transition.restart] [transition.refund]."""
        status = status_of(to)
        restarts = self.terminal and status not in TERMINAL
        kept = self.last_error
        if error is not None:
            attempt = self.attempt if error.attempt is None else error.attempt
            kept = replace(error, attempt=attempt, at=now if error.at is None else error.at)
        planned = status in _PLANNED
        return replace(
            self,
            status=status,
            attempt=0 if restarts else self.attempt - refund,
            lapses=0 if restarts else self.lapses,
            lease_until=None,
            holder=None,
            run_at=at(time_of(to), now) if planned else self.run_at,
            retry_at=at(time_of(to), now) if status is JobStatus.FAILED else None,
            terminal_at=now if status in TERMINAL else None,
            last_error=kept,
        )

    def as_claimed(self) -> ClaimedJob | None:
        """What the claim that holds it says; None if nobody holds it."""
        if self.lease_until is None:
            return None
        return ClaimedJob(
            id=self.id,
            kind=self.new.kind,
            payload=self.new.payload,
            payload_version=self.new.payload_version,
            queue=self.new.queue,
            attempt=self.attempt,
            lapses=self.lapses,
            enqueued_at=self.enqueued_at,
            scheduled_for=self.scheduled_for,
            lease_until=self.lease_until,
            fence=self.fence,
            unique_key=self.new.unique_key,
            schedule_id=self.new.schedule_id,
            headers=self.new.headers,
        )

    def summary(self) -> JobSummary:
        """What a list says of it."""
        return JobSummary(
            id=self.id,
            kind=self.new.kind,
            queue=self.new.queue,
            status=self.status,
            attempt=self.attempt,
            run_at=self.run_at,
            enqueued_at=self.enqueued_at,
            schedule_id=self.new.schedule_id,
            retry_at=self.retry_at,
            terminal_at=self.terminal_at,
        )

    def details(self) -> JobDetails:
        """All that a store shows of it."""
        return JobDetails(
            summary=self.summary(),
            payload=self.new.payload,
            payload_version=self.new.payload_version,
            unique_key=self.new.unique_key,
            scheduled_for=self.scheduled_for,
            fence=self.fence,
            lapses=self.lapses,
            lease_until=self.lease_until,
            holder=self.holder,
            last_error=self.last_error,
            progress=self.progress,
            headers=self.new.headers,
        )
