"""Acting on many jobs, one after the other, and keeping count of what came of it."""

import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import click

from klokka.app import job_verbs
from klokka.app.capability import capable
from klokka.core.ids import JobId
from klokka.core.records import JobQuery
from klokka.core.states import (
    LIVE,
    TERMINAL,
    Cancelled,
    DeadLettered,
    Enqueued,
    Failed,
    JobStatus,
    Running,
    Scheduled,
    State,
    Succeeded,
)
from klokka.errors import UniqueConflict
from klokka.spi.query import QueryableStore
from klokka.spi.store import JobStore

_STATES: Final[dict[JobStatus, State]] = {
    JobStatus.SCHEDULED: Scheduled(),
    JobStatus.ENQUEUED: Enqueued(),
    JobStatus.RUNNING: Running(),
    JobStatus.SUCCEEDED: Succeeded(),
    JobStatus.FAILED: Failed(),
    JobStatus.DEAD_LETTERED: DeadLettered(),
    JobStatus.CANCELLED: Cancelled(),
}
_PAGE: Final = 1000
_LONG: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """What is done to each job: whatever its state, or only while it is still in the one that was asked for."""

    verb: str
    done: str
    applies_to: frozenset[JobStatus]
    act: Callable[[JobStore, JobId], Awaitable[bool]]
    act_in: Callable[[JobStore, JobId, JobStatus], Awaitable[bool]]


@dataclass(slots=True)
class Tally:
    """What came of it so far."""

    changed: int = 0
    unchanged: list[tuple[JobId, str]] = field(default_factory=list[tuple[JobId, str]])


async def fitting(store: JobStore, query: JobQuery, action: Action) -> list[JobId]:
    """The jobs that fit `query` and that `action` applies to, latest first, each once though rows come and go."""
    readable = capable(store, QueryableStore, f"jobs {action.verb} --all")
    found: list[JobId] = []
    page = replace(query, limit=_PAGE)
    while jobs := await readable.list_jobs(page):
        found += [job.id for job in jobs if job.status in action.applies_to]
        page = replace(page, before=jobs[-1].id)
    return found


async def act_on(store: JobStore, ids: Sequence[JobId], status: JobStatus | None, action: Action, tally: Tally) -> None:
    """Does it to each job, and counts in `tally`, which is right also where this is interrupted."""
    for job in _with_bar(ids, action):
        try:
            done = await (action.act(store, job) if status is None else action.act_in(store, job, status))
            if done:
                tally.changed += 1
            else:
                tally.unchanged.append((job, await _why_not(store, job)))
        except UniqueConflict as error:
            tally.unchanged.append((job, f"its unique key is held by job {error.holder}"))


async def _why_not(store: JobStore, id: JobId) -> str:
    job = await job_verbs.get(store, id)
    return "unknown" if job is None else f"is {job.summary.status.value}"


def _with_bar(ids: Sequence[JobId], action: Action) -> Iterator[JobId]:
    if len(ids) < _LONG or not sys.stderr.isatty():
        yield from ids
        return
    steps = len(ids) // _LONG
    with click.progressbar(ids, label=action.verb, file=sys.stderr, show_pos=True, update_min_steps=steps) as bar:
        yield from bar


async def _requeue_in(store: JobStore, id: JobId, status: JobStatus) -> bool:
    return await store.transition(id, from_=_STATES[status], to=Enqueued())


async def _cancel_in(store: JobStore, id: JobId, status: JobStatus) -> bool:
    return await store.transition(id, from_=_STATES[status], to=Cancelled())


async def _delete_in(store: JobStore, id: JobId, status: JobStatus) -> bool:
    """Looks first. No verb of a store deletes by state, so a job that moves in between is deleted all the same."""
    job = await job_verbs.get(store, id)
    return job is not None and job.summary.status is status and await job_verbs.delete(store, id)


REQUEUE: Final = Action(verb="requeue", done="requeued", applies_to=TERMINAL, act=job_verbs.requeue, act_in=_requeue_in)
CANCEL: Final = Action(verb="cancel", done="cancelled", applies_to=LIVE, act=job_verbs.cancel, act_in=_cancel_in)
DELETE: Final = Action(
    verb="delete", done="deleted", applies_to=frozenset(JobStatus), act=job_verbs.delete, act_in=_delete_in
)
