"""Things that are wrong with a store or with its fleet, and what to do about each."""

from collections.abc import AsyncIterator, Iterable
from datetime import timedelta
from typing import Final, Protocol

from klokka.core.durations import spell
from klokka.core.records import JobQuery, QueueDepth
from klokka.core.states import JobStatus
from klokka.core.worker_records import WorkerBeat
from klokka.errors import Busy, KlokkaError, StoreFull, StoreReadOnly, StoreUnavailable
from klokka.spi.diagnosis import Finding
from klokka.spi.fleet import FleetStore
from klokka.spi.life import Migrations
from klokka.spi.query import QueryableStore
from klokka.spi.store import JobStore

_CLOCK_TOLERANCE: Final = timedelta(seconds=1)
_OVERDUE: Final = timedelta(minutes=1)
_SAMPLE: Final = 1000


class ObservableStore(JobStore, QueryableStore, FleetStore, Protocol):
    """A store in which jobs and workers can be seen."""


def of_error(error: KlokkaError) -> Finding:
    """A store that cannot be used."""
    match error:
        case StoreReadOnly():
            advice = "Give this user the right to write: the file and its folder, or the role on the server."
        case StoreFull():
            advice = "Make room on the disk or raise the quota."
        case Busy():
            advice = "Something holds the store for long. Look for open transactions, and run this again."
        case StoreUnavailable():
            advice = "Check that the server or the folder exists, is reached from here, and is the one meant."
        case _:
            advice = ""  # the message says what next
    return Finding(problem=str(error), advice=advice)


def of_schema(schema: Migrations) -> Iterable[Finding]:
    """A schema that is missing or older than this code."""
    if schema.current == 0:
        yield Finding(
            problem="there is no Klokka database at this place.",
            advice="Check the name of the store. `klokka migrate` makes the database.",
        )
    elif schema.current != schema.latest:
        yield Finding(
            problem=f"the schema is at version {schema.current}, and this code's is {schema.latest}.",
            advice="Run `klokka migrate`; a worker that starts does the same.",
        )


def of_clock(ahead: timedelta) -> Iterable[Finding]:
    """Clocks that disagree."""
    if abs(ahead) > _CLOCK_TOLERANCE:
        where = "ahead of" if ahead > timedelta(0) else "behind"
        yield Finding(
            problem=f"the store's clock is {spell(abs(ahead))} {where} this host's.",
            advice="Let both follow a time server. Leases and due times go by the store's clock alone.",
        )


async def of_queues(store: ObservableStore) -> AsyncIterator[Finding]:
    """Work that waits for a worker which is not there."""
    live = [worker.beat for worker in await store.workers() if worker.live]
    for depth in await store.queue_depths():
        if depth.due and depth.paused is None:
            serving = [beat for beat in live if depth.queue in beat.queues]
            if serving:
                async for finding in _of_kinds(store, depth, serving):
                    yield finding
            else:
                yield Finding(
                    problem=f"queue {depth.queue} has {depth.due:,} due jobs and no live worker.",
                    advice=f"Start one that serves it: klokka worker module:app --queue {depth.queue}",
                )


async def of_schedules(store: ObservableStore) -> AsyncIterator[Finding]:
    """Ticks that nobody fires."""
    live = [worker.beat for worker in await store.workers() if worker.live]
    now = await store.now()
    known = {schedule for beat in live for schedule in beat.schedules}
    for row in await store.list_schedules():
        late = row.next_fire_at is not None and now - row.next_fire_at > _OVERDUE
        if late and row.paused is None and row.id not in known:
            yield Finding(
                problem=f"schedule {row.id} is overdue and no live worker has it.",
                advice="Start a worker of the app that defines it, or pause it.",
            )


async def _of_kinds(store: ObservableStore, depth: QueueDepth, serving: list[WorkerBeat]) -> AsyncIterator[Finding]:
    """Looks at the latest of the jobs that wait in a queue."""
    known = {kind for beat in serving for kind in beat.kinds}
    waiting = await store.list_jobs(JobQuery(status=JobStatus.ENQUEUED, queue=depth.queue, limit=_SAMPLE))
    for kind in sorted({job.kind for job in waiting} - known):
        yield Finding(
            problem=f"kind {kind} waits in queue {depth.queue}, and no live worker there has a handler of it.",
            advice="Deploy its handler again, or call its jobs off: "
            f"klokka jobs cancel --all --queue {depth.queue} --kind {kind}",
        )
