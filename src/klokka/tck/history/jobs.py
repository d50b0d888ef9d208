"""One job as an object of a history: what each verb means to it, and where it leads [claim.exclusive]."""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from klokka.core.ids import JobId
from klokka.core.records import Change, ClaimedJob, JobDetails, NewJob
from klokka.core.states import Cancelled, Enqueued
from klokka.errors import UniqueConflict
from klokka.tck.history.fences import is_known, unheard
from klokka.tck.history.moments import Moments
from klokka.tck.history.order import Event, Object
from klokka.tck.history.record import UNKNOWN, Operation
from klokka.tck.model.jobs import ModelJob


@dataclass(frozen=True, slots=True)
class JobState:
    """The job, None before it is there and after it was deleted, and the store's clock."""

    now: datetime
    exact: bool
    """Whether that clock stands still between moves; else no instant is compared that comes of it."""
    job: ModelJob | None = None
    gone: bool = False


def job_object(moments: Moments, *, exact: bool) -> Object[JobState]:
    """Jobs of a history with these moments."""

    def step(state: JobState, event: Event) -> Iterable[JobState]:
        if event.what == "advance":
            return [replace(state, now=state.now + event.operation.asked["by"])]
        times = moments.possible(event.operation, state.now)
        return (replace(after, now=state.now) for now in times for after in _step(replace(state, now=now), event))

    return Object(JobState(moments.begin, exact), step, _key)


def job_events(operations: Iterable[Operation]) -> dict[JobId, list[Event]]:
    """What the operations mean to each job that any of them names. Claims that nobody heard may mean any job."""
    operations = list(operations)
    events: dict[JobId, list[Event]] = {}
    for operation in operations:
        for id_, event in _meant(operation):
            events.setdefault(id_, []).append(event)
    revealed = _revealed(operations)
    for operation in operations:
        if operation.verb == "advance":
            common = [Event(operation, "advance")]
        elif operation.verb == "claim" and not operation.known:
            common = [Event(operation, "claim")]
        else:
            common = []
        for of_job in events.values():
            of_job += common
        if operation.verb == "enqueue" and not operation.known:
            for new in operation.asked["jobs"]:
                if (shown := revealed.get(new.payload)) is not None and shown in events:
                    events[shown].append(Event(operation, "born", (shown, new)))
    return events


def _revealed(operations: Iterable[Operation]) -> dict[str, JobId]:
    """The jobs by their payloads, each of which is enqueued once, as far as claims and reads have shown them."""
    shown: dict[str, JobId] = {}
    for operation in operations:
        if operation.verb == "claim" and operation.known:
            shown |= {job.payload: job.id for job in operation.answer}
        elif operation.verb == "get_job" and isinstance(operation.answer, JobDetails):
            shown[operation.answer.payload] = operation.answer.summary.id
    return shown


def _meant(operation: Operation) -> Iterator[tuple[JobId, Event]]:
    asked, answer = operation.asked, operation.answer
    match operation.verb:
        case "enqueue" if operation.known:
            for new, result in zip(asked["jobs"], answer, strict=True):
                if result.created:
                    yield result.id, Event(operation, "born", (result.id, new))
        case "claim" if operation.known:
            for job in answer:
                yield job.id, Event(operation, "claimed", job)
        case "heartbeat":
            for id_, fence in asked["held"].items():
                yield id_, Event(operation, "beat", (fence, None if answer is UNKNOWN else id_ in answer))
        case "transition":
            change = Change(**asked)
            yield change.id, Event(operation, "change", (change, answer))
        case "transition_many":
            yield from _batched(operation, asked["changes"])
        case "cancel" | "requeue" | "delete" | "get_job":
            yield asked["id"], Event(operation, operation.verb, answer)
        case _:
            return


def _batched(operation: Operation, changes: Sequence[Change]) -> Iterator[tuple[JobId, Event]]:
    answers = [UNKNOWN] * len(changes) if operation.answer is UNKNOWN else operation.answer
    for change, answer in zip(changes, answers, strict=True):
        yield change.id, Event(operation, "change", (change, answer))


def _key(state: JobState) -> Hashable:
    job = state.job
    if job is None:
        return state.now, state.gone
    times = (job.enqueued_at, job.run_at, job.retry_at, job.lease_until, job.terminal_at)
    return state.now, job.status, job.attempt, job.lapses, job.fence, job.holder, times


def _step(state: JobState, event: Event) -> Iterable[JobState]:
    asked = event.operation.asked
    if event.what == "born":
        return _born(state, *event.given)
    job = state.job
    if job is None:
        return [state] if _absent(event) else []
    if event.what == "delete":
        return [replace(state, job=None, gone=True)] if event.given is not False else []
    return [replace(state, job=after) for after in _changed(job, state, asked, event)]


def _born(state: JobState, id: JobId, new: NewJob) -> list[JobState]:
    return [] if state.job is not None or state.gone else [replace(state, job=ModelJob.born(id, new, state.now))]


def _absent(event: Event) -> bool:
    """Whether the answer is right where the job is not, or not any more."""
    match event.what:
        case "beat":
            return event.given[1] is False
        case "change":
            return event.given[1] is False
        case "get_job":
            return event.given is None
        case _:
            return event.given is False


def _changed(job: ModelJob, state: JobState, asked: Mapping[str, Any], event: Event) -> list[ModelJob]:
    """The job after the event, if the event can happen to it; both ways where the contract leaves it open."""
    given, now = event.given, state.now
    match event.what:
        case "claimed":
            return _claimed(job, state, asked, given)
        case "claim":
            taken = job.taken(fence=unheard(job.fence), worker=asked["worker"], until=now + asked["lease"])
            return [taken] if job.claimable(now) else []
        case "beat":
            fence, seen = given
            held = job.held(fence, asked["worker"], now)
            if seen is not None and seen is not held:
                return []
            return [job.extended(now + asked["extend"]) if held else job]
        case "change":
            return _moved(job, now, *given)
        case "cancel":
            if given in (True, UNKNOWN):
                return [] if job.terminal else [job.moved(Cancelled(), now)]
            return [job] if job.terminal else []
        case "requeue":
            if given in (True, UNKNOWN):
                return [job.moved(Enqueued(), now)] if job.terminal else []
            return [job] if job.terminal is isinstance(given, UniqueConflict) else []
        case _:
            return [job] if given is UNKNOWN or _shows(job, state, given) else []


def _claimed(job: ModelJob, state: JobState, asked: Mapping[str, Any], seen: ClaimedJob) -> list[ModelJob]:
    if not job.claimable(state.now) or seen.fence <= job.fence:
        return []
    taken = job.taken(fence=seen.fence, worker=asked["worker"], until=state.now + asked["lease"])
    if state.exact:
        return [taken] if taken.as_claimed() == seen else []
    counts = (seen.attempt, seen.lapses, seen.payload, seen.unique_key)
    return [taken] if counts == (taken.attempt, taken.lapses, taken.new.payload, taken.new.unique_key) else []


def _moved(job: ModelJob, now: datetime, change: Change, seen: Any) -> list[ModelJob]:
    stands = job.stands(change.from_, change.fence, now)
    if isinstance(seen, UniqueConflict):
        return [job] if stands is not False and job.terminal else []
    if seen is False:
        reopens = job.terminal and stands is True  # in a batch, a held key answers False
        return [job] if stands is not True or reopens else []
    return [] if stands is False else [job.moved(change.to, now, error=change.error, refund=change.refund)]


def _shows(job: ModelJob, state: JobState, seen: JobDetails | None) -> bool:
    """Whether a reader may have seen the job like this."""
    if seen is None or seen.summary.status not in job.statuses(state.now):
        return False
    if not (seen.fence == job.fence if is_known(job.fence) else seen.fence > job.fence):
        return False
    if (seen.summary.attempt, seen.lapses, seen.holder) != (job.attempt, job.lapses, job.holder):
        return False
    times = (seen.lease_until, seen.summary.retry_at, seen.summary.terminal_at)
    expected = (job.lease_until, job.retry_at, job.terminal_at)
    if state.exact:
        return times == expected
    return [time is None for time in times] == [time is None for time in expected]
