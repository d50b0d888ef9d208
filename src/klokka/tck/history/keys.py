"""A unique key as an object of a history: no job or one live job holds it [enqueue.unique-race]."""

from collections.abc import Hashable, Iterable, Iterator
from typing import Final

from klokka.core.ids import JobId
from klokka.core.records import Change, JobDetails
from klokka.core.states import TERMINAL, status_of
from klokka.errors import UniqueConflict
from klokka.tck.history.order import Event, Object
from klokka.tck.history.record import Operation

Holder = JobId | None


def key_events(operations: Iterable[Operation]) -> dict[str, list[Event]]:
    """What the operations mean to each key. A round of this sort creates jobs with keys by `enqueue` alone."""
    operations = list(operations)
    key_of: dict[JobId, str] = {}
    payloads: dict[str, JobId] = {}
    for operation in operations:
        if operation.verb == "claim" and operation.known:
            key_of |= {job.id: job.unique_key for job in operation.answer if job.unique_key is not None}
            payloads |= {job.payload: job.id for job in operation.answer}
        elif isinstance(seen := operation.answer, JobDetails):
            payloads[seen.payload] = seen.summary.id
            if seen.unique_key is not None:
                key_of[seen.summary.id] = seen.unique_key
        elif operation.verb == "enqueue" and operation.known:
            for new, result in zip(operation.asked["jobs"], operation.answer, strict=True):
                if new.unique_key is not None:
                    key_of[result.id] = new.unique_key
    events: dict[str, list[Event]] = {}
    for operation in operations:
        for key, event in _meant(operation, key_of, payloads):
            events.setdefault(key, []).append(event)
    return events


def _meant(operation: Operation, key_of: dict[JobId, str], payloads: dict[str, JobId]) -> Iterator[tuple[str, Event]]:
    asked, answer = operation.asked, operation.answer
    match operation.verb:
        case "enqueue":
            for index, new in enumerate(asked["jobs"]):
                if new.unique_key is None:
                    continue
                if operation.known:
                    yield new.unique_key, Event(operation, "born" if answer[index].created else "met", answer[index].id)
                elif new.payload in payloads:
                    yield new.unique_key, Event(operation, "born", payloads[new.payload])
        case "transition":
            if asked["id"] in key_of:
                yield key_of[asked["id"]], _change(operation, Change(**asked), answer)
        case "transition_many":
            for index, change in enumerate(asked["changes"]):
                if change.id in key_of:
                    one = answer[index] if operation.known else answer
                    yield key_of[change.id], _change(operation, change, one)
        case "cancel" | "delete" | "requeue" if asked["id"] in key_of:
            what = "opened" if operation.verb == "requeue" else "ended"
            yield key_of[asked["id"]], Event(operation, what, (asked["id"], answer, operation.verb == "delete"))
        case _:
            return


def _change(operation: Operation, change: Change, answer: object) -> Event:
    ends = status_of(change.to) in TERMINAL
    origin_ended = status_of(change.from_) in TERMINAL
    what = "ended" if ends and not origin_ended else "opened" if origin_ended and not ends else "stayed"
    return Event(operation, what, (change.id, answer, False))


def _step(holder: Holder, event: Event) -> Iterable[Holder]:
    match event.what:
        case "born":
            return [event.given] if holder is None else []
        case "met":
            return [holder] if holder == event.given else []
        case "stayed":
            return [holder]
        case _:
            return _settled(holder, event)


def _settled(holder: Holder, event: Event) -> Iterable[Holder]:
    """After a change that ends or opens a job of the key."""
    id_, answer, any_state = event.given
    if isinstance(answer, UniqueConflict):
        return [holder] if holder == answer.holder else []
    if answer is False:
        return [holder]  # why it did not apply is for the job's own history to judge
    if event.what == "ended":
        if any_state and holder != id_:
            return [holder]
        return [None] if holder == id_ else []
    return [id_] if holder is None else []


def _key(holder: Holder) -> Hashable:
    return holder


KEY: Final[Object[Holder]] = Object(None, _step, _key)
