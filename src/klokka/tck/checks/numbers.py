"""Numbers larger than any that a store has: limits that are no bound, and ids and fences that nobody got."""

from datetime import timedelta
from typing import Final

from klokka.core.ids import Fence, JobId, ScheduleId
from klokka.core.records import RetentionPolicy
from klokka.core.schedule_records import ScheduleSpec
from klokka.core.states import Enqueued, Running, Succeeded
from klokka.spi.keys import LeaseStore
from klokka.spi.operate import OperableStore, ProgressStore
from klokka.spi.query import QueryableStore
from klokka.tck.bench import HOUR, KIND, WORKER, Bench
from klokka.tck.capabilities import SchedulingStore
from klokka.tck.check import check
from klokka.tck.violations import expect, present

HUGE: Final = (2**31, 2**63 - 1, 2**63, 2**100)
FAR: Final = (2**16, 2**31, 2**32, 2**63, 2**64)
"""Differences that a number of so many bits does not have."""
MANY: Final = 300
S: Final = ScheduleId("s")


@check("claim.limit", "claim.caps", "life.arguments")
async def a_limit_may_be_larger_than_any_queue(bench: Bench) -> None:
    ids = [*await bench.enqueue_many(2, queue="a"), *await bench.enqueue_many(2, queue="b")]

    for huge in HUGE:
        jobs = await bench.claim(queues=["a", "b"], limit=huge, caps={"a": huge})

        expect([job.id for job in jobs]).equals(ids, "all there is, where the limit allows more")
        for job in jobs:
            await bench.settle(job, Enqueued(), refund=True)


@check("claim.kinds", "claim.queue-order", "claim.next-due")
async def a_worker_may_name_hundreds_of_kinds_and_queues(bench: Bench) -> None:
    kinds = [f"kind-{number}" for number in range(MANY)]
    queues = [f"queue-{number}" for number in range(MANY // 5)]
    jobs = [bench.new(kind=kind, queue=queues[-1]) for kind in (kinds[-1], kinds[0])]
    ids = [result.id for result in await bench.store.enqueue(jobs)]

    due = await bench.store.next_due(queues=queues, kinds=kinds)

    expect(due).differs(None, "each of the named kinds and queues counts")
    expect(await bench.claimed_ids(queues=queues, kinds=kinds)).equals(ids, "each of the named kinds and queues gives")


@check("schedule.upsert-new", "schedule.due", "schedule.complete", needs=SchedulingStore)
async def a_node_may_name_hundreds_of_schedules_and_runs(bench: Bench) -> None:
    at = await bench.store.now() - HOUR
    ids = [ScheduleId(f"{number:03}") for number in range(MANY)]
    specs = [ScheduleSpec(id=id_, kind=KIND, fingerprint="v1", description="", fire_at=at) for id_ in ids]
    await bench.store.upsert_schedules(specs)

    fires = await bench.store.due_schedules(ids=ids, limit=MANY, lease=HOUR, worker=WORKER)
    runs = [bench.new() for _ in range(MANY)]
    stored = await bench.store.complete_fire(ids[0], fence=fires[0].fence, runs=runs, next_fire_at=None)

    expect([fire.schedule_id for fire in fires]).equals(ids, "each of the named schedules fires")
    expect(len(stored or ())).equals(MANY, "each run is inserted")
    expect(len(await bench.claim(limit=2 * MANY))).equals(MANY, "each run is inserted")


@check("schedule.due", "life.arguments", needs=SchedulingStore)
async def a_limit_of_fires_may_be_larger_than_any_fleet(bench: Bench) -> None:
    for huge in HUGE:
        schedule = ScheduleId(str(huge))
        spec = ScheduleSpec(
            id=schedule, kind=KIND, fingerprint="v1", description="", fire_at=await bench.store.now() - HOUR
        )
        await bench.store.upsert_schedules([spec])

        fires = await bench.store.due_schedules(ids=[schedule], limit=huge, lease=HOUR, worker=WORKER)

        expect([fire.schedule_id for fire in fires]).equals([schedule], "all there is, where the limit allows more")


@check("sweep.bounded", "life.arguments")
async def a_limit_of_a_sweep_may_be_larger_than_any_table(bench: Bench) -> None:
    for huge in HUGE:
        await bench.settle(await bench.claimed(), Succeeded())
        await bench.pass_time(bench.short)

        swept = await bench.store.sweep(RetentionPolicy(succeeded_for=timedelta(0)), limit=huge)

        expect((swept.jobs, swept.more)).equals((1, False), "all there is, where the limit allows more")


@check("claim.fence", "heartbeat.held", "transition.fence")
async def a_fence_is_compared_as_a_whole_number(bench: Bench) -> None:
    job = await bench.claimed()

    for far in (*FAR, *(-far for far in FAR)):
        other = Fence(job.fence + far)
        held = await bench.store.heartbeat({job.id: other}, worker=WORKER, extend=HOUR)
        expect(held, "heartbeat.held").equals(set[JobId](), f"a fence that is off by {far} is another fence")
        moved = await bench.store.transition(job.id, from_=Running(), to=Succeeded(), fence=other)
        expect(moved, "transition.fence").equals(False, f"a fence that is off by {far} is another fence")
        if isinstance(bench.store, ProgressStore):
            kept = await bench.store.report_progress(job.id, fence=other, value=0.5)
            expect(kept, "progress.held").equals(False, f"a fence that is off by {far} is another fence")


@check("schedule.fence", needs=SchedulingStore)
async def a_fence_of_a_fire_is_compared_as_a_whole_number(bench: Bench) -> None:
    spec = ScheduleSpec(id=S, kind=KIND, fingerprint="v1", description="", fire_at=await bench.store.now())
    await bench.store.upsert_schedules([spec])
    (fire,) = await bench.store.due_schedules(ids=[S], limit=1, lease=HOUR, worker=WORKER)

    for far in (*FAR, *(-far for far in FAR)):
        done = await bench.store.complete_fire(S, fence=Fence(fire.fence + far), runs=[], next_fire_at=None)
        expect(done).equals(None, f"a fence that is off by {far} is another fence")


@check("lease.cursor", needs=LeaseStore)
async def a_fence_of_a_lease_is_compared_as_a_whole_number(bench: Bench) -> None:
    fence = present(await bench.leases.acquire_lease("lease", "me", HOUR), "a free lease is given")
    now = await bench.store.now()

    for far in (*FAR, *(-far for far in FAR)):
        moved = await bench.leases.advance_cursor("cursor", now, lease="lease", fence=Fence(fence + far))
        expect(moved).equals(False, f"a fence that is off by {far} is another fence")


@check("life.arguments", "transition.cas", "heartbeat.held")
async def an_id_is_compared_as_a_whole_number(bench: Bench) -> None:
    job = await bench.claimed()

    for far in (*FAR, *(-far for far in FAR)):
        other = JobId(job.id + far)
        held = await bench.store.heartbeat({other: job.fence}, worker=WORKER, extend=HOUR)
        expect(held).equals(set[JobId](), f"an id that is off by {far} is unknown")
        for fence in (None, job.fence):
            moved = await bench.store.transition(other, from_=Running(), to=Succeeded(), fence=fence)
            expect(moved).equals(False, f"an id that is off by {far} is unknown")

    held = await bench.store.heartbeat({job.id: job.fence}, worker=WORKER, extend=HOUR)
    expect(held).equals({job.id}, "and the job is untouched")


@check("life.arguments", "operate.cancel", "operate.delete", needs=(OperableStore, QueryableStore))
async def people_name_jobs_by_whole_numbers(bench: Bench) -> None:
    job = await bench.enqueue_one()
    before = await bench.details(job)

    for far in (*FAR, *(-far for far in FAR)):
        other = JobId(job + far)
        answers = [await bench.operate.cancel(other), await bench.operate.requeue(other)]
        answers += [await bench.operate.delete(other)]
        expect(answers).equals([False] * 3, f"an id that is off by {far} is unknown")
        expect(await bench.query.get_job(other)).equals(None, f"an id that is off by {far} is unknown")

    expect(await bench.details(job)).equals(before, "and the job is untouched")
