"""Every verb of the contract with something to do, so that it can be cancelled at each of its awaits."""

from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from klokka.core.ids import ScheduleId, WorkerId
from klokka.core.records import Change, JobQuery, NewJob, RetentionPolicy
from klokka.core.schedule_records import ScheduleFire, ScheduleSpec
from klokka.core.states import DeadLettered, Failed, JobStatus, Running, Succeeded
from klokka.core.worker_records import WorkerBeat
from klokka.spi.batch import BatchingStore
from klokka.spi.fleet import FleetStore
from klokka.spi.keys import EnqueueOnceStore, IdempotencyStore, LeaseStore
from klokka.spi.operate import OperableStore, ProgressStore
from klokka.tck.bench import HOUR, KIND, WORKER, Bench

Act = Callable[[Any], Coroutine[Any, Any, Any]]
"""The verb, on the store that is given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A verb, what must be there before it, and what it is asked. `tag` names all that belongs to one try."""

    verb: str
    arrange: Callable[[Bench, str], Awaitable[Act]]
    needs: type[object] = object
    whole: bool = True
    """Whether it happens as one. What may stop in the middle by the contract is only to leave the store usable."""


CASES: Final[list[Case]] = []


def case(
    verb: str, needs: type[object] = object, *, whole: bool = True
) -> Callable[[Callable[[Bench, str], Awaitable[Act]]], None]:
    """Registers what must be there before a verb."""

    def register(arrange: Callable[[Bench, str], Awaitable[Act]]) -> None:
        CASES.append(Case(verb=verb, arrange=arrange, needs=needs, whole=whole))

    return register


def _jobs(bench: Bench, tag: str, number: int = 3) -> list[NewJob]:
    return [bench.new(queue=tag, unique_key=f"{tag}-{index}") for index in range(number)]


async def _claimed(bench: Bench, tag: str) -> list[Any]:
    await bench.store.enqueue(_jobs(bench, tag))
    return await bench.claim(queues=[tag])


async def _fires(bench: Bench, tag: str) -> list[ScheduleFire]:
    await _scheduled(bench, tag)
    ids = [ScheduleId(f"{tag}-0"), ScheduleId(f"{tag}-1")]
    return await bench.store.due_schedules(ids=ids, limit=2, lease=HOUR, worker=WORKER)


async def _specs(bench: Bench, tag: str, fingerprint: str) -> list[ScheduleSpec]:
    at = bench.cut(await bench.store.now()) - HOUR
    return [
        ScheduleSpec(id=ScheduleId(f"{tag}-{index}"), kind=KIND, fingerprint=fingerprint, description="", fire_at=at)
        for index in range(2)
    ]


async def _scheduled(bench: Bench, tag: str) -> None:
    await bench.store.upsert_schedules(await _specs(bench, tag, "v1"))


@case("enqueue")
async def _(bench: Bench, tag: str) -> Act:
    return lambda store: store.enqueue(_jobs(bench, tag))


@case("claim")
async def _(bench: Bench, tag: str) -> Act:
    await bench.store.enqueue(_jobs(bench, tag))
    return lambda store: store.claim(queues=[tag], kinds=[KIND], limit=3, lease=HOUR, worker=WORKER)


@case("next_due")
async def _(bench: Bench, tag: str) -> Act:
    await bench.store.enqueue(_jobs(bench, tag))
    return lambda store: store.next_due(queues=[tag], kinds=[KIND])


@case("heartbeat", whole=False)
async def _(bench: Bench, tag: str) -> Act:
    held = {job.id: job.fence for job in await _claimed(bench, tag)}
    return lambda store: store.heartbeat(held, worker=WORKER, extend=2 * HOUR)


@case("transition")
async def _(bench: Bench, tag: str) -> Act:
    job = (await _claimed(bench, tag))[0]
    return lambda store: store.transition(job.id, from_=Running(), to=Failed(HOUR), fence=job.fence)


@case("transition_many", BatchingStore, whole=False)
async def _(bench: Bench, tag: str) -> Act:
    changes = [
        Change(id=job.id, from_=Running(), to=Succeeded(), fence=job.fence) for job in await _claimed(bench, tag)
    ]
    return lambda store: store.transition_many(changes)


@case("sweep", whole=False)
async def _(bench: Bench, tag: str) -> Act:
    for job in await _claimed(bench, tag):
        await bench.settle(job, Succeeded())
    return lambda store: store.sweep(RetentionPolicy(succeeded_for=timedelta(0)))


@case("upsert_schedules")
async def _(bench: Bench, tag: str) -> Act:
    await _scheduled(bench, tag)
    changed = await _specs(bench, tag, "v2")
    return lambda store: store.upsert_schedules(changed)


@case("due_schedules")
async def _(bench: Bench, tag: str) -> Act:
    await _scheduled(bench, tag)
    ids = [ScheduleId(f"{tag}-0"), ScheduleId(f"{tag}-1")]
    return lambda store: store.due_schedules(ids=ids, limit=2, lease=HOUR, worker=WORKER)


@case("complete_fire")
async def _(bench: Bench, tag: str) -> Act:
    fire = (await _fires(bench, tag))[0]
    runs = _jobs(bench, tag)
    return lambda store: store.complete_fire(fire.schedule_id, fence=fire.fence, runs=runs, next_fire_at=None)


@case("cancel", OperableStore)
async def _(bench: Bench, tag: str) -> Act:
    job = (await _claimed(bench, tag))[0]
    return lambda store: store.cancel(job.id)


@case("requeue", OperableStore)
async def _(bench: Bench, tag: str) -> Act:
    job = (await _claimed(bench, tag))[0]
    await bench.settle(job, DeadLettered())
    return lambda store: store.requeue(job.id)


@case("delete", OperableStore)
async def _(bench: Bench, tag: str) -> Act:
    job = (await _claimed(bench, tag))[0]
    return lambda store: store.delete(job.id)


@case("pause_schedule", OperableStore)
async def _(bench: Bench, tag: str) -> Act:
    fire = (await _fires(bench, tag))[0]
    return lambda store: store.pause_schedule(fire.schedule_id, "a reason")


@case("resume_schedule", OperableStore)
async def _(bench: Bench, tag: str) -> Act:
    await _scheduled(bench, tag)
    id_ = ScheduleId(f"{tag}-0")
    await bench.operate.pause_schedule(id_, "a reason")
    return lambda store: store.resume_schedule(id_, None)


@case("report_progress", ProgressStore)
async def _(bench: Bench, tag: str) -> Act:
    job = (await _claimed(bench, tag))[0]
    return lambda store: store.report_progress(job.id, fence=job.fence, value=0.5)


@case("beat", FleetStore)
async def _(_: Bench, tag: str) -> Act:
    beat = WorkerBeat(id=WorkerId(tag), host="h", pid=1, version="1", queues=(), kinds=())
    return lambda store: store.beat(beat, live_for=HOUR)


@case("retire", FleetStore)
async def _(bench: Bench, tag: str) -> Act:
    beat = WorkerBeat(id=WorkerId(tag), host="h", pid=1, version="1", queues=(), kinds=())
    await bench.fleet.beat(beat, live_for=HOUR)
    return lambda store: store.retire(WorkerId(tag))


@case("pause_queue", FleetStore)
async def _(_: Bench, tag: str) -> Act:
    return lambda store: store.pause_queue(tag, "a reason")


@case("resume_queue", FleetStore)
async def _(bench: Bench, tag: str) -> Act:
    await bench.fleet.pause_queue(tag, "a reason")
    return lambda store: store.resume_queue(tag)


@case("claim_key", IdempotencyStore)
async def _(_: Bench, tag: str) -> Act:
    return lambda store: store.claim_key("scope", tag, HOUR)


@case("enqueue_once", EnqueueOnceStore)
async def _(bench: Bench, tag: str) -> Act:
    job = bench.new(queue=tag)
    return lambda store: store.enqueue_once(job, scope="scope", key=tag, ttl=HOUR)


@case("acquire_lease", LeaseStore)
async def _(_: Bench, tag: str) -> Act:
    return lambda store: store.acquire_lease(tag, "owner", HOUR)


@case("release_lease", LeaseStore)
async def _(bench: Bench, tag: str) -> Act:
    await bench.leases.acquire_lease(tag, "owner", HOUR)
    return lambda store: store.release_lease(tag, "owner")


@case("advance_cursor", LeaseStore)
async def _(bench: Bench, tag: str) -> Act:
    fence = await bench.leases.acquire_lease(tag, "owner", HOUR)
    to = await bench.store.now()
    return lambda store: store.advance_cursor(tag, to, lease=tag, fence=fence)


async def shape(bench: Bench, store: Any, tag: str) -> tuple[Any, ...]:
    """What is stored of one try, told so that two tries can be compared. `store` is any handle."""
    jobs = await store.list_jobs(JobQuery(queue=tag))
    planned = (JobStatus.SCHEDULED, JobStatus.ENQUEUED)
    shapes: list[Any] = [("planned" if job.status in planned else job.status, job.attempt) for job in jobs]
    for row in await store.list_schedules():
        if row.id.startswith(f"{tag}-"):
            fires = (row.next_fire_at is None, row.last_fired_at is None, row.lease_until is None)
            shapes.append((row.id.removeprefix(tag), row.fingerprint, *fires, row.paused))
    if isinstance(bench.store, FleetStore):
        shapes.append((tag in {row.beat.id for row in await store.workers()}, tag in await store.paused_queues()))
    if isinstance(bench.store, LeaseStore):
        shapes.append(await store.read_cursor(tag) is None)
    return tuple(shapes)
