"""Rounds of callers at once, and the judgement on what they have recorded."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from klokka.tck.bench import Bench
from klokka.tck.history.callers import Caller, Ground
from klokka.tck.history.order import Event, Object, Verdict, judge
from klokka.tck.history.record import History, Operation
from klokka.tck.violations import Violation

CALLERS: Final = 5
_TOLD: Final = 60
CLAUSES: Final = {
    "born": "enqueue.unique-race",
    "met": "enqueue.unique-race",
    "opened": "transition.reopen",
    "ended": "enqueue.unique-life",
    "claimed": "claim.exclusive",
    "beat": "heartbeat.held",
    "change": "transition.once",
    "cancel": "operate.cancel",
    "requeue": "operate.requeue",
    "delete": "operate.delete",
    "get_job": "life.isolation",
    "fire": "schedule.due",
    "complete": "schedule.fence",
    "upsert": "schedule.upsert-changed",
    "pause_schedule": "operate.schedule",
    "resume_schedule": "operate.schedule",
    "claim_key": "key.once",
    "release_key": "key.owner",
    "acquire_lease": "lease.one",
    "release_lease": "lease.one",
    "advance_cursor": "lease.cursor",
}
"""What an event breaks that fits nowhere."""


async def play(bench: Bench, caller: Callable[..., Any], *, steps: int) -> Ground:
    """One round on this bench: callers on one loop and on threads, at once; all have ended when it returns."""
    ground = Ground(bench, History(), bench.cut(await bench.store.now()))

    async def go(store: Any, number: int) -> None:
        await caller(ground, store, number).go(steps)

    await bench.threaded(CALLERS, go)
    return ground


async def look_at_the_end(ground: Ground) -> None:
    """Reads every job that the history names, so that it ends with what is stored."""
    reader = Caller(ground, ground.bench.store, CALLERS)
    named = {result.id for operation in _known(ground, "enqueue") for result in operation.answer}
    named |= {job.id for operation in _known(ground, "claim") for job in operation.answer}
    for id_ in sorted(named):
        asked = {"id": id_}
        act = ground.bench.query.get_job(id_)
        await ground.history.recorded(reader.number, "get_job", asked, act)


def judge_all(ground: Ground, sort: Object[Any], events: Mapping[Any, Sequence[Event]], what: str) -> None:
    """Returns if each object's history has an order in which every answer is right.

    Raises:
        Violation: one has none; its operations are told.
    """
    for name, of_object in events.items():
        finding = judge(sort, of_object)
        if finding.verdict is Verdict.WRONG:
            stuck = finding.stuck[0]
            start = min(operation.begun for operation in ground.history.operations)
            lines = [event.operation.line(start) for event in sorted(of_object, key=lambda it: it.operation.begun)]
            violation = Violation(
                f"no order of these operations on {what} {name!r} makes every answer right",
                seen=stuck.operation.line(start),
                expected="an answer that fits between its beginning and its end",
                clauses=(CLAUSES.get(stuck.what, "claim.exclusive"),),
            )
            violation.story = lines[-_TOLD:]
            raise violation


def judge_ids(operations: Iterable[Operation]) -> None:
    """Ids grow with time and are given once [enqueue.ids]."""
    made = [
        (operation, [result.id for result in operation.answer if result.created])
        for operation in operations
        if operation.verb == "enqueue" and operation.known
    ]
    ids = [id_ for _, of_call in made for id_ in of_call]
    if len(set(ids)) < len(ids):
        raise Violation("an id is given once", seen=ids, expected="no id twice", clauses=("enqueue.ids",))
    for earlier, first in made:
        for later, second in made:
            if earlier.ended < later.begun and first and second and max(first) >= min(second):
                raise Violation(
                    "ids of a call that had returned are smaller than those of a call that began after it",
                    seen=(first, second),
                    expected="growing ids",
                    clauses=("enqueue.ids",),
                )


def judge_runs(ground: Ground, payloads: Sequence[str]) -> None:
    """The runs of each completion are there once, if it applied, and not at all, if it did not [schedule.complete]."""
    for operation in ground.history.operations:
        if operation.verb != "complete_fire":
            continue
        for run in operation.asked["runs"]:
            number = payloads.count(run.payload)
            allowed = (0, 1) if not operation.known else (0,) if operation.answer is None else (1,)
            if number not in allowed:
                raise Violation(
                    f"the run {run.payload} of a completion of {operation.asked['schedule_id']} is stored so many times",
                    seen=number,
                    expected=allowed,
                    clauses=("schedule.complete",),
                )


def _known(ground: Ground, verb: str) -> list[Operation]:
    return [operation for operation in ground.history.operations if operation.verb == verb and operation.known]
