"""The life of a job: its states, and the one table that says which moves are legal.

Stores compare and set; they judge no edge [transition.any-edge]. Whoever decides a move looks it up here.
"""

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, assert_never


class JobStatus(enum.StrEnum):
    """The name of a state, as stores keep it and people filter by it."""

    SCHEDULED = "scheduled"
    ENQUEUED = "enqueued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    DEAD_LETTERED = "dead_lettered"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class Scheduled:
    """Waits for its time. As a target `at` is required; in `from_` None matches any time."""

    at: datetime | timedelta | None = None


@dataclass(frozen=True, slots=True)
class Enqueued:
    """May be claimed now."""


@dataclass(frozen=True, slots=True)
class Running:
    """Held under a lease. Only `claim` leads here."""


@dataclass(frozen=True, slots=True)
class Succeeded:
    """Terminal: the handler returned."""


@dataclass(frozen=True, slots=True)
class Failed:
    """A retry is booked, so this is not terminal. As a target `retry_at` is required; in `from_` None matches any."""

    retry_at: datetime | timedelta | None = None


@dataclass(frozen=True, slots=True)
class DeadLettered:
    """Terminal: given up, kept for people."""


@dataclass(frozen=True, slots=True)
class Cancelled:
    """Terminal: called off by an operator or by the handler."""


State = Scheduled | Enqueued | Running | Succeeded | Failed | DeadLettered | Cancelled

WAITING: Final = frozenset({JobStatus.SCHEDULED, JobStatus.ENQUEUED, JobStatus.FAILED})
TERMINAL: Final = frozenset({JobStatus.SUCCEEDED, JobStatus.DEAD_LETTERED, JobStatus.CANCELLED})
LIVE: Final = frozenset(JobStatus) - TERMINAL


class Move(enum.Enum):
    """What happens to a job, in the words of whoever decides it."""

    DUE = "its time came"
    CLAIMED = "a worker claimed it"
    SUCCEEDED = "its handler returned"
    RETRY_BOOKED = "it failed and has attempts left"
    SNOOZED = "its handler asked for later"
    HANDED_BACK = "its worker stops and gives it back"
    PUT_BACK = "its worker puts it back into its place, unstarted"
    GIVEN_UP = "it failed for good"
    CANCELLED = "it was called off"
    REQUEUED = "an operator wants it again"


LEGAL: Final[Mapping[tuple[JobStatus, Move], JobStatus]] = {
    (JobStatus.SCHEDULED, Move.DUE): JobStatus.ENQUEUED,
    (JobStatus.SCHEDULED, Move.CLAIMED): JobStatus.RUNNING,
    (JobStatus.SCHEDULED, Move.CANCELLED): JobStatus.CANCELLED,
    (JobStatus.ENQUEUED, Move.CLAIMED): JobStatus.RUNNING,
    (JobStatus.ENQUEUED, Move.CANCELLED): JobStatus.CANCELLED,
    (JobStatus.RUNNING, Move.CLAIMED): JobStatus.RUNNING,  # after the lease ended
    (JobStatus.RUNNING, Move.SUCCEEDED): JobStatus.SUCCEEDED,
    (JobStatus.RUNNING, Move.RETRY_BOOKED): JobStatus.FAILED,
    (JobStatus.RUNNING, Move.SNOOZED): JobStatus.SCHEDULED,
    (JobStatus.RUNNING, Move.HANDED_BACK): JobStatus.ENQUEUED,
    (JobStatus.RUNNING, Move.PUT_BACK): JobStatus.SCHEDULED,  # due when it was, so before what came later
    (JobStatus.RUNNING, Move.GIVEN_UP): JobStatus.DEAD_LETTERED,
    (JobStatus.RUNNING, Move.CANCELLED): JobStatus.CANCELLED,
    (JobStatus.FAILED, Move.CLAIMED): JobStatus.RUNNING,
    (JobStatus.FAILED, Move.CANCELLED): JobStatus.CANCELLED,
    (JobStatus.SUCCEEDED, Move.REQUEUED): JobStatus.ENQUEUED,
    (JobStatus.DEAD_LETTERED, Move.REQUEUED): JobStatus.ENQUEUED,
    (JobStatus.CANCELLED, Move.REQUEUED): JobStatus.ENQUEUED,
}


def status_of(state: State) -> JobStatus:
    """The name under which a state is stored."""
    match state:
        case Scheduled():
            return JobStatus.SCHEDULED
        case Enqueued():
            return JobStatus.ENQUEUED
        case Running():
            return JobStatus.RUNNING
        case Succeeded():
            return JobStatus.SUCCEEDED
        case Failed():
            return JobStatus.FAILED
        case DeadLettered():
            return JobStatus.DEAD_LETTERED
        case Cancelled():
            return JobStatus.CANCELLED
        case _:
            assert_never(state)


def time_of(state: State) -> datetime | timedelta | None:
    """The time that a state carries, where it carries one."""
    match state:
        case Scheduled(at):
            return at
        case Failed(retry_at):
            return retry_at
        case _:
            return None
