"""The values that cross the storage contract: what goes into a store and what comes out of it.

Frozen, slotted, keyword-only. Every instant that comes out is aware and in UTC [time.aware].
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Final, Self

from klokka.core.headers import MAX_ATTEMPTS, check_own
from klokka.core.ids import Fence, JobId, ScheduleId, WorkerId
from klokka.core.instants import check_plan, duration, not_negative
from klokka.core.names import check_key, check_queue
from klokka.core.policies import check_attempts
from klokka.core.states import JobStatus, State
from klokka.errors import InvalidInput

NO_HEADERS: Final[Mapping[str, str]] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class NewJob:
    """A request: a job that no store has seen yet, a plain value that may be kept, copied and sent in batches.

    `payload` is text, JSON by default. `run_at` None means now; a timedelta means that long from now, by the
    store's clock. `headers` are carried and never read by stores; names that begin with `klokka.` are reserved.
    Nothing is checked here: the door is `Limits.admit`, which every store calls before it writes.
    """

    kind: str
    payload: str
    payload_version: int = 1
    queue: str = "default"
    run_at: datetime | timedelta | None = None
    unique_key: str | None = None
    schedule_id: ScheduleId | None = None
    headers: Mapping[str, str] = field(default_factory=lambda: NO_HEADERS)

    def options(
        self,
        *,
        delay: timedelta | None = None,
        run_at: datetime | None = None,
        queue: str | None = None,
        unique_key: str | None = None,
        max_attempts: int | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Self:
        """A copy with what is given changed; None leaves as it is.

        `delay` counts from the enqueue, by the store's clock. `max_attempts` can only tighten the kind's policy.
        `headers` are added to those already there.

        Raises:
            InvalidInput: or one of its kinds: `delay` and `run_at` together, a negative delay, a naive time, a bad name.
        """
        if delay is not None and run_at is not None:
            raise InvalidInput("delay and run_at say the same thing twice. Give one of them.")
        if delay is not None:
            duration(delay, "delay")
        when = self.run_at if delay is None and run_at is None else (run_at if delay is None else delay)
        if when is not None:
            check_plan("run_at" if delay is None else "delay", when)
        more = dict(check_own(headers or {}))
        if max_attempts is not None:
            more[MAX_ATTEMPTS] = str(check_attempts(max_attempts))
        return replace(
            self,
            run_at=when,
            queue=self.queue if queue is None else check_queue(queue),
            unique_key=self.unique_key if unique_key is None else check_key("unique_key", unique_key),
            headers=MappingProxyType({**self.headers, **more}) if more else self.headers,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class EnqueueResult:
    """Where the job is: `created` is false where a unique key led to the job that holds it [enqueue.unique]."""

    id: JobId
    created: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimedJob:
    """A job held under a lease, with what its handler and its settlement need."""

    id: JobId
    kind: str
    payload: str
    payload_version: int
    queue: str
    attempt: int
    lapses: int
    enqueued_at: datetime
    scheduled_for: datetime
    lease_until: datetime
    fence: Fence
    unique_key: str | None
    schedule_id: ScheduleId | None
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class JobError:
    """Why an attempt failed. What the caller leaves out the store fills in: the row's attempt, its own now."""

    type: str
    message: str
    traceback: str = ""
    attempt: int | None = None
    at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One transition of a batch; see `JobStore.transition`."""

    id: JobId
    from_: State
    to: State
    fence: Fence | None = None
    error: JobError | None = None
    refund: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class JobSummary:
    """One line of a list. `run_at` is the time last planned; a booked retry stands in `retry_at`."""

    id: JobId
    kind: str
    queue: str
    status: JobStatus
    attempt: int
    run_at: datetime
    enqueued_at: datetime
    schedule_id: ScheduleId | None
    retry_at: datetime | None
    terminal_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class JobDetails:
    """All that a store knows of one job. `progress` is 0.0 to 1.0 or None [progress.held]."""

    summary: JobSummary
    payload: str
    payload_version: int
    unique_key: str | None
    scheduled_for: datetime
    fence: Fence
    lapses: int
    lease_until: datetime | None
    holder: WorkerId | None
    last_error: JobError | None
    progress: float | None
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class JobQuery:
    """Which jobs to list, newest first. None means any.

    `before` is the keyset cursor: the id of the last job on the page before [query.page].
    """

    status: JobStatus | None = None
    kind: str | None = None
    queue: str | None = None
    unique_key: str | None = None
    schedule_id: ScheduleId | None = None
    before: JobId | None = None
    limit: int = 50
    offset: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueDepth:
    """How a queue stands: `due` may be claimed now, `waiting` has its time ahead."""

    queue: str
    due: int
    waiting: int
    running: int
    oldest_due: datetime | None
    paused: str | None
    """The reason for which the queue is paused, or None."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionPolicy:
    """How long terminal jobs stay; None keeps them for ever. A job exactly as old stays [sweep.retention].

    Raises:
        InvalidTime: a time is negative, or no timedelta.
    """

    succeeded_for: timedelta | None = timedelta(hours=24)
    cancelled_for: timedelta | None = timedelta(hours=24)
    dead_lettered_for: timedelta | None = None

    def __post_init__(self) -> None:
        for name in ("succeeded_for", "cancelled_for", "dead_lettered_for"):
            kept = getattr(self, name)
            if kept is not None:
                not_negative(kept, name)


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepReport:
    """What one call of `sweep` deleted, and whether it stopped at its bound [sweep.bounded]."""

    jobs: int
    keys: int
    more: bool
