"""Durations, each as it was given: to its last step, and however long [time.store-clock] [time.resolution]."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Final

from klokka.core.ids import ScheduleId, WorkerId
from klokka.core.records import RetentionPolicy
from klokka.core.schedule_records import ScheduleSpec
from klokka.core.states import Enqueued, Failed, Running, Scheduled, Succeeded
from klokka.core.worker_records import WorkerBeat
from klokka.spi.fleet import FleetStore
from klokka.spi.keys import EnqueueOnceStore, IdempotencyStore, LeaseStore
from klokka.tck.bench import KIND, MINUTE, WORKER, Bench, Moment
from klokka.tck.capabilities import SchedulingStore
from klokka.tck.check import check
from klokka.tck.violations import expect, present

YEARS: Final = timedelta(days=4000)
WHY: Final = "a duration counts as it was given, to its last step and however long"


def _lengths(bench: Bench) -> Iterator[timedelta]:
    yield MINUTE + bench.step
    yield YEARS + bench.step


async def _expect_next(bench: Bench, queue: str, moment: Moment, length: timedelta) -> None:
    """The only thing that waits in the queue does so until that long after the moment."""
    at = await bench.store.next_due(queues=[queue], kinds=[KIND])
    expect(at).within(moment.start + length, moment.end + length, WHY)


@check("time.store-clock", "claim.lease", "claim.next-due")
async def a_lease_ends_to_the_step(bench: Bench) -> None:
    for number, length in enumerate(_lengths(bench)):
        queue = f"q{number}"
        job, moment = await bench.timed(bench.claimed(lease=length, queue=queue))

        expect(job.lease_until).within(moment.start + length, moment.end + length, WHY)
        await _expect_next(bench, queue, moment, length)


@check("time.store-clock", "heartbeat.extends", "claim.next-due")
async def an_extension_ends_to_the_step(bench: Bench) -> None:
    for number, length in enumerate(_lengths(bench)):
        queue = f"q{number}"
        job = await bench.claimed(lease=bench.short, queue=queue)

        act = bench.store.heartbeat({job.id: job.fence}, worker=WORKER, extend=length)
        held, moment = await bench.timed(act)

        expect(held).equals({job.id}, "it is held")
        await _expect_next(bench, queue, moment, length)


@check("time.store-clock", "enqueue.state", "transition.times", "claim.next-due")
async def a_wait_ends_to_the_step(bench: Bench) -> None:
    for number, length in enumerate(_lengths(bench)):
        queue = f"q{number}"
        job, moment = await bench.timed(bench.enqueue_one(run_at=length, queue=queue))
        await _expect_next(bench, queue, moment, length)

        await bench.store.transition(job, from_=Scheduled(), to=Enqueued())
        for to in (Failed(length), Scheduled(length), Enqueued()):
            claimed = await bench.claim_one(queues=[queue])
            act = bench.store.transition(job, from_=Running(), to=to, fence=claimed.fence)
            moved, moment = await bench.timed(act)
            expect(moved).equals(True, "its holder may book it for later")
            if not isinstance(to, Enqueued):
                await _expect_next(bench, queue, moment, length)
                await bench.store.transition(job, from_=type(to)(), to=Enqueued())


@check("time.store-clock", "sweep.retention", given="advance")
async def a_retention_ends_to_the_step(bench: Bench) -> None:
    for length in _lengths(bench):
        await bench.settle(await bench.claimed(), Succeeded())

        await bench.pass_time(length)
        kept = await bench.store.sweep(RetentionPolicy(succeeded_for=length))
        await bench.pass_time(bench.step)
        gone = await bench.store.sweep(RetentionPolicy(succeeded_for=length))

        expect((kept.jobs, gone.jobs)).equals((0, 1), f"{WHY}: exactly as old stays, a step older goes")


@check("time.store-clock", "key.once", needs=IdempotencyStore, given="advance")
async def a_ttl_of_a_key_ends_to_the_step(bench: Bench) -> None:
    for length in _lengths(bench):
        await bench.keys.claim_key("scope", str(length), length)

        await _is_free_after(bench, length, key=str(length))


@check("time.store-clock", "key.once", needs=EnqueueOnceStore, given="advance")
async def a_ttl_of_enqueueing_once_ends_to_the_step(bench: Bench) -> None:
    for length in _lengths(bench):
        await bench.once.enqueue_once(bench.new(), scope="scope", key=str(length), ttl=length)

        await _is_free_after(bench, length, key=str(length))


@check("time.store-clock", "lease.one", needs=LeaseStore, given="advance")
async def a_lease_by_name_ends_to_the_step(bench: Bench) -> None:
    for length in _lengths(bench):
        for before in (None, MINUTE):  # a new lease, and a renewal
            name = f"{length} {before}"
            if before is not None:
                await bench.leases.acquire_lease(name, "me", before)
            await bench.leases.acquire_lease(name, "me", length)

            await bench.pass_time(length - bench.step)
            expect(await bench.leases.acquire_lease(name, "you", MINUTE)).equals(None, WHY)
            await bench.pass_time(bench.step)
            expect(await bench.leases.acquire_lease(name, "you", MINUTE)).differs(None, WHY)


@check("time.store-clock", "schedule.crash", needs=SchedulingStore, given="advance")
async def a_lease_of_a_fire_ends_to_the_step(bench: Bench) -> None:
    schedule = ScheduleId("s")
    at = await bench.store.now()
    await bench.store.upsert_schedules(
        [ScheduleSpec(id=schedule, kind=KIND, fingerprint="v1", description="", fire_at=at)]
    )

    async def fires(lease: timedelta) -> int:
        return len(await bench.store.due_schedules(ids=[schedule], limit=1, lease=lease, worker=WORKER))

    for length in _lengths(bench):
        expect(await fires(length)).equals(1, "it is due")
        await bench.pass_time(length - bench.step)
        expect(await fires(length)).equals(0, WHY)
        await bench.pass_time(bench.step)


@check("time.store-clock", "fleet.beat", needs=FleetStore, given="advance")
async def a_beat_ends_to_the_step(bench: Bench) -> None:
    for length in _lengths(bench):
        worker = WorkerBeat(id=WorkerId(str(length)), host="h", pid=1, version="1", queues=(), kinds=(), slots=1)
        await bench.fleet.beat(worker, live_for=length)

        async def is_live(worker: WorkerBeat = worker) -> bool:
            rows = {row.beat.id: row for row in await bench.fleet.workers()}
            return present(rows.get(worker.id), "one that was live within a day is remembered").live

        await bench.pass_time(length - bench.step)
        expect(await is_live()).equals(True, WHY)
        await bench.pass_time(bench.step)
        expect(await is_live()).equals(False, WHY)


async def _is_free_after(bench: Bench, length: timedelta, *, key: str) -> None:
    """Passes the time: a key that was taken now is held to the step before, and free then."""
    await bench.pass_time(length - bench.step)
    expect(await bench.keys.claim_key("scope", key, MINUTE)).equals(None, WHY)
    await bench.pass_time(bench.step)
    expect(await bench.keys.claim_key("scope", key, MINUTE)).differs(None, WHY)
