"""What happens to jobs, told to whoever listens: the one seam for metrics, tracing and alerting.

An event is told after its effect is stored. Listeners never block a job; an event may be dropped, a job may not.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from klokka.core.ids import JobId, ScheduleId


@dataclass(frozen=True, slots=True, kw_only=True)
class JobEvent:
    """What all events of a job tell."""

    id: JobId
    kind: str
    queue: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Enqueued(JobEvent):
    """This process stored the job. Not told for jobs in a caller's transaction, which may still roll back."""

    created: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Started(JobEvent):
    """The handler is about to run.

    `waited` is how long the job stood there and due before it was claimed, by the store's clock. It is None where this
    is not the first claim, as after a failure, a snooze or a hand-back: since when it is due again no claim says.
    """

    attempt: int
    waited: timedelta | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended(JobEvent):
    """What all ends of a run tell; `ran` is by a monotonic clock, zero where no handler ran."""

    attempt: int
    ran: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class Succeeded(Ended):
    """The job is done and that is stored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed(Ended):
    """The attempt failed and a retry is booked, `wait` from then."""

    error: BaseException
    wait: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class Snoozed(Ended):
    """The handler asked for later; no attempt is charged."""

    wait: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLettered(Ended):
    """The job is given up and kept for people."""

    error: BaseException


@dataclass(frozen=True, slots=True, kw_only=True)
class Cancelled(Ended):
    """The handler called the job off."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseLost(Ended):
    """The lease was lost while the handler ran: it is ended and its result discarded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fired:
    """A schedule's tick was decided and its runs are stored."""

    schedule: ScheduleId
    kind: str
    scheduled_for: datetime
    id: JobId


@dataclass(frozen=True, slots=True, kw_only=True)
class Misfired:
    """Ticks of a schedule were missed and not made up for; `at_least` says that the count stopped early."""

    schedule: ScheduleId
    kind: str
    missed: int
    at_least: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopBlocked:
    """A handler blocked the event loop for `blocked`; `stack` is where it stood."""

    blocked: timedelta
    stack: str


Event = (
    Enqueued
    | Started
    | Succeeded
    | Failed
    | Snoozed
    | DeadLettered
    | Cancelled
    | LeaseLost
    | Fired
    | Misfired
    | LoopBlocked
)
