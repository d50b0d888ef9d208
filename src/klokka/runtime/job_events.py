"""What is told of a job's runs, made only where somebody listens."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Final, TypedDict

from klokka.core import events
from klokka.core.ids import JobId
from klokka.core.records import ClaimedJob
from klokka.core.states import Move
from klokka.runtime.bus import EventBus
from klokka.runtime.verdict import Verdict

ENDS: Final[Mapping[Move, type[events.Ended]]] = {
    Move.SUCCEEDED: events.Succeeded,
    Move.RETRY_BOOKED: events.Failed,
    Move.SNOOZED: events.Snoozed,
    Move.GIVEN_UP: events.DeadLettered,
    Move.CANCELLED: events.Cancelled,
}
"""What is told of a move; nothing of others, such as work handed back."""


def tell_started(bus: EventBus, job: ClaimedJob, lease: timedelta) -> None:
    """The handler is about to run, under a claim for `lease`."""
    if bus.wants(events.Started):
        bus.tell(
            events.Started(id=job.id, kind=job.kind, queue=job.queue, attempt=job.attempt, waited=waited(job, lease))
        )


def tell_end(bus: EventBus, made: Verdict, job: ClaimedJob, ran: float) -> None:
    """A verdict is stored; `ran` is in seconds."""
    told = ENDS.get(made.move) if bus.listened else None
    if told is not None and bus.wants(told) and (event := end_of(made, job, ran)) is not None:
        bus.tell(event)


def tell_lease_lost(bus: EventBus, job: ClaimedJob, ran: float) -> None:
    """The lease was lost while the handler ran, and its result is discarded."""
    if bus.wants(events.LeaseLost):
        bus.tell(events.LeaseLost(**_head(job, ran)))


def waited(job: ClaimedJob, lease: timedelta) -> timedelta | None:
    """How long a job waited for this claim, if it is its first, as its fence shows; see `events.Started`."""
    if job.fence > 1:
        return None
    claimed_at = job.lease_until - lease
    return max(claimed_at - max(job.scheduled_for, job.enqueued_at), timedelta(0))


def end_of(made: Verdict, job: ClaimedJob, ran: float) -> events.Ended | None:
    """The event of a verdict; None where nothing is told."""
    head = _head(job, ran)
    match made.move, made.error:
        case Move.SUCCEEDED, _:
            return events.Succeeded(**head)
        case Move.SNOOZED, _:
            return events.Snoozed(**head, wait=made.wait)
        case Move.CANCELLED, _:
            return events.Cancelled(**head, reason=made.reason)
        case Move.RETRY_BOOKED, BaseException() as error:
            return events.Failed(**head, error=error, wait=made.wait)
        case Move.GIVEN_UP, BaseException() as error:
            return events.DeadLettered(**head, error=error)
        case _:
            return None


class _Head(TypedDict):
    id: JobId
    kind: str
    queue: str
    attempt: int
    ran: timedelta


def _head(job: ClaimedJob, ran: float) -> _Head:
    return _Head(id=job.id, kind=job.kind, queue=job.queue, attempt=job.attempt, ran=timedelta(seconds=ran))
