"""What follows from the end of a run: pure, and legal by `core.states.LEGAL`."""

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final

from klokka.core.error_text import describe, storable
from klokka.core.headers import max_attempts_of
from klokka.core.outcomes import Cancel, Outcome, Snooze
from klokka.core.policies import next_try
from klokka.core.records import Change, ClaimedJob, JobError
from klokka.core.states import Cancelled, DeadLettered, Enqueued, Failed, Move, Running, Scheduled, Succeeded
from klokka.errors import WorkerLost
from klokka.runtime.handlers import Handler

RUNNING: Final = Running()
SUCCEEDED: Final = Succeeded()
ENQUEUED: Final = Enqueued()
DEAD_LETTERED: Final = DeadLettered()
CANCELLED: Final = Cancelled()


# One of each is made for every job, and freezing would make that three times as slow. Nobody changes them.


@dataclass(slots=True, kw_only=True)
class Result:
    """How a run ended: `error` is None or why it failed, `ran` is in seconds by a monotonic clock."""

    outcome: Outcome = None
    error: BaseException | None = None
    ran: float = 0.0


@dataclass(slots=True, kw_only=True)
class Verdict:
    """The change to store and the move that it is; `error`, `wait` and `reason` where the move has them.

    `policy_failure` is what the retry policy raised, where `wait` is not its own for that.
    """

    move: Move
    change: Change
    error: BaseException | None = None
    wait: timedelta = timedelta(0)
    reason: str = ""
    policy_failure: Exception | None = None


def verdict(result: Result, job: ClaimedJob, handler: Handler) -> Verdict:
    """What becomes of `job` after `result`. Anything that a handler returns besides an outcome means done."""
    if result.error is not None:
        return _failed(result.error, job, handler)
    match result.outcome:
        case Snooze(delay):
            to = Scheduled(delay)
            change = Change(id=job.id, from_=RUNNING, to=to, fence=job.fence, refund=True)
            return Verdict(move=Move.SNOOZED, change=change, wait=delay)
        case Cancel(reason):
            error = storable(JobError(type="Cancel", message=reason))
            change = Change(id=job.id, from_=RUNNING, to=CANCELLED, fence=job.fence, error=error)
            return Verdict(move=Move.CANCELLED, change=change, reason=reason)
        case _:
            change = Change(id=job.id, from_=RUNNING, to=SUCCEEDED, fence=job.fence)
            return Verdict(move=Move.SUCCEEDED, change=change)


def handed_back(job: ClaimedJob, *, unstarted: bool) -> Verdict:
    """Gives the claim back at once; work that was never started is not charged [transition.refund]."""
    change = Change(id=job.id, from_=RUNNING, to=ENQUEUED, fence=job.fence, refund=unstarted)
    return Verdict(move=Move.HANDED_BACK, change=change)


def put_back(job: ClaimedJob) -> Verdict:
    """Gives an unstarted claim back into its place in the line, which a hand-back at a stop does not keep.

    A job that was retried comes a little sooner than it would have, since only its first time is known here.
    """
    to = Scheduled(job.scheduled_for)
    return Verdict(move=Move.PUT_BACK, change=Change(id=job.id, from_=RUNNING, to=to, fence=job.fence, refund=True))


def not_to_be_started(job: ClaimedJob, handler: Handler) -> Verdict | None:
    """The dead letter for a job whose worker was lost too often or on its last attempt; None if it may start.

    Too often is `max_lapses`, which counts lapses alone. The last attempt is what the retry policy makes of the
    attempt before this claim, with the lost worker as its error.
    """
    if not job.lapses:
        return None
    if job.lapses > handler.max_lapses:
        error = WorkerLost(
            f"job {job.id} ({job.kind}) was lost with its worker {job.lapses} times, and {handler.max_lapses} are "
            "allowed: it seems to kill its worker. It was not started again; mend its handler, then requeue it."
        )
        return _given_up(error, job)
    error = WorkerLost(
        f"job {job.id} ({job.kind}) was lost with its worker, and attempt {job.attempt - 1} was its last. "
        "It was not started again; requeue it if it may run once more."
    )
    if next_try(handler.retry, job.attempt - 1, error, max_attempts_of(job.headers)).wait is None:
        return _given_up(error, job)
    return None


def _failed(error: BaseException, job: ClaimedJob, handler: Handler) -> Verdict:
    again = next_try(handler.retry, job.attempt, error, max_attempts_of(job.headers))
    if again.wait is None:
        return _given_up(error, job)
    kept = describe(error) if again.failure is None else _described_with(error, again.failure)
    change = Change(id=job.id, from_=RUNNING, to=Failed(again.wait), fence=job.fence, error=kept)
    return Verdict(move=Move.RETRY_BOOKED, change=change, error=error, wait=again.wait, policy_failure=again.failure)


def _described_with(error: BaseException, policy_failure: Exception) -> JobError:
    """`error`, and why its wait is not the one that the policy was to give."""
    kept, why = describe(error), describe(policy_failure)
    return storable(
        replace(kept, traceback=f"{kept.traceback}\nThe retry policy failed with {why.type}: {why.message}\n")
    )


def _given_up(error: BaseException, job: ClaimedJob) -> Verdict:
    change = Change(id=job.id, from_=RUNNING, to=DEAD_LETTERED, fence=job.fence, error=describe(error))
    return Verdict(move=Move.GIVEN_UP, change=change, error=error)
