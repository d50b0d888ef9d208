"""Jobs and schedules as the memory store keeps them: mutable, and read out as the contract's records."""

from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Final, Self

from klokka.core.ids import Fence, JobId, WorkerId
from klokka.core.instants import after, aware
from klokka.core.records import NO_HEADERS, ClaimedJob, JobDetails, JobError, JobSummary, NewJob
from klokka.core.schedule_records import ScheduleRow, ScheduleSpec
from klokka.core.states import TERMINAL, JobStatus

NO_FENCE: Final = Fence(0)


@dataclass(slots=True, kw_only=True)
class JobRow:
    """One job. `new` is what was asked for; the rest is its life."""

    id: JobId
    new: NewJob
    status: JobStatus
    run_at: datetime
    enqueued_at: datetime
    scheduled_for: datetime
    attempt: int = 0
    lapses: int = 0
    fence: Fence = NO_FENCE
    lease_until: datetime | None = None
    holder: WorkerId | None = None
    retry_at: datetime | None = None
    terminal_at: datetime | None = None
    last_error: JobError | None = None
    progress: float | None = None

    @classmethod
    def born(cls, id: JobId, new: NewJob, run_at: datetime, now: datetime) -> Self:
        """A job that was just asked for [enqueue.state] [claim.scheduled-for]."""
        return cls(
            id=id,
            new=new,
            status=JobStatus.ENQUEUED if run_at <= now else JobStatus.SCHEDULED,
            run_at=run_at,
            enqueued_at=now,
            scheduled_for=run_at,
        )

    @property
    def terminal(self) -> bool:
        return self.status in TERMINAL

    def due(self) -> datetime | None:
        """When it may be claimed; None while it runs and when it has ended. Time decides, not state [claim.due]."""
        if self.status is JobStatus.FAILED:
            return self.retry_at
        return self.run_at if self.status in (JobStatus.ENQUEUED, JobStatus.SCHEDULED) else None

    def lease_end(self) -> datetime | None:
        return self.lease_until

    def claimed(self, lease_until: datetime) -> ClaimedJob:
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
            lease_until=lease_until,
            fence=self.fence,
            unique_key=self.new.unique_key,
            schedule_id=self.new.schedule_id,
            headers=self.new.headers,
        )

    def summary(self) -> JobSummary:
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


def planned(new: NewJob, now: datetime) -> datetime:
    """The instant at which the job is meant to run, by the store's clock [time.store-clock]."""
    match new.run_at:
        case None:
            return now
        case datetime() as at:
            return aware(at, "run_at")
        case wait:
            return after(now, wait, "run_at")


def frozen_headers(new: NewJob) -> MappingProxyType[str, str] | None:
    """The caller's headers, copied so that the caller may go on changing its own; None where there are none."""
    return None if new.headers is NO_HEADERS else MappingProxyType(dict(new.headers))


@dataclass(slots=True, kw_only=True)
class ScheduleState:
    """One schedule: its definition, when it fires next, and who holds the fire."""

    spec: ScheduleSpec
    next_fire_at: datetime | None
    last_fired_at: datetime | None = None
    lease_until: datetime | None = None
    fence: int = 0
    paused: str | None = None

    def withdraw(self) -> None:
        """Makes a fire in flight impossible to complete [schedule.upsert-changed] [operate.schedule]."""
        self.lease_until = None
        self.fence += 1

    def row(self) -> ScheduleRow:
        return ScheduleRow(
            id=self.spec.id,
            kind=self.spec.kind,
            fingerprint=self.spec.fingerprint,
            description=self.spec.description,
            next_fire_at=self.next_fire_at,
            last_fired_at=self.last_fired_at,
            lease_until=self.lease_until,
            fence=Fence(self.fence),
            paused=self.paused,
        )
