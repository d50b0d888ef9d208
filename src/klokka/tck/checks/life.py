"""Life: opening, closing, handles, errors, and verbs that are cancelled or mixed."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import timedelta

from klokka.core.ids import JobId, ScheduleId
from klokka.core.records import EnqueueResult, RetentionPolicy
from klokka.core.schedule_records import ScheduleSpec
from klokka.core.states import Cancelled, DeadLettered, Enqueued, Failed, Running, Succeeded
from klokka.core.worker_records import WorkerBeat
from klokka.errors import Busy, InvalidInput, KlokkaError, MisuseError
from klokka.spi.fleet import FleetStore
from klokka.spi.keys import IdempotencyStore, LeaseStore
from klokka.spi.store import JobStore
from klokka.tck.bench import HOUR, KIND, MINUTE, OTHER_WORKER, QUEUE, WORKER, Bench
from klokka.tck.callers import Begin, check_both_sorts
from klokka.tck.check import check
from klokka.tck.crowds import patient
from klokka.tck.violations import expect, expect_refusal

NOTHING = timedelta(0)
S = ScheduleId("nightly")


@check("life.open")
async def opening_and_closing_are_idempotent(bench: Bench) -> None:
    await bench.store.open()
    job = await bench.enqueue_one()
    await bench.store.open()
    other = await bench.handle()

    await other.close()
    await other.close()

    expect(await bench.claimed_ids()).equals([job], "opening again changes nothing, closing another handle neither")


@check("life.open", "life.errors")
async def a_handle_that_is_not_open_refuses_its_verbs(bench: Bench) -> None:
    never = bench.subject.other()
    closed = await bench.handle()
    await closed.close()

    acts: list[Callable[[JobStore], Awaitable[object]]] = [
        lambda store: store.now(),
        lambda store: store.enqueue([bench.new()]),
        lambda store: bench.claim(store=store),
        lambda store: store.next_due(queues=[QUEUE], kinds=[KIND]),
        lambda store: store.sweep(RetentionPolicy()),
    ]

    for store in (never, closed):
        for act in acts:
            with expect_refusal(MisuseError, "verbs of a handle that is not open raise MisuseError"):
                await act(store)


@check("life.open")
async def a_handle_belongs_to_one_loop(bench: Bench) -> None:
    async def open_here(*_: object) -> None:
        with expect_refusal(MisuseError, "a handle belongs to the loop that opened it"):
            await bench.store.open()

    await bench.threaded(1, open_here)

    expect(len(await bench.enqueue_many(2))).equals(2, "and it goes on there")


@check("life.open", "life.deadlock")
async def many_handles_open_at_once(bench: Bench) -> None:
    async def enqueue(store: JobStore, number: int) -> EnqueueResult:
        await store.open()
        return (await store.enqueue([bench.new(payload=str(number))]))[0]

    results = await bench.threaded(8, enqueue)

    expect(sorted(await bench.claimed_ids())).equals(
        sorted(result.id for result in results), "opening and migrating are safe from many at once, on the same data"
    )


@check_both_sorts("life.loop")
async def while_a_verb_waits_its_loop_goes_on(bench: Bench, begin: Begin) -> None:
    other = await bench.handle()
    turns = 0

    async def go_on() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(bench.store.traits.bound.total_seconds() / 50)
            turns += 1

    async with begin(bench) as caller:
        await caller.enqueue([bench.new(unique_key="k")])
        going_on = asyncio.create_task(go_on())
        with suppress(Busy):
            await other.enqueue([bench.new(unique_key="k")])
        going_on.cancel()

    expect(turns).above(5, "other work of the loop goes on while a verb waits for somebody else's lock")


@check_both_sorts("life.open")
async def closing_a_handle_ends_no_verb_of_another(bench: Bench, begin: Begin) -> None:
    closing, waiting = await bench.handle(), patient(await bench.handle())

    async with begin(bench) as caller:
        (first,) = await caller.enqueue([bench.new(unique_key="k")])
        verb = asyncio.create_task(waiting.enqueue([bench.new(unique_key="k")]))
        await asyncio.wait([verb], timeout=min(0.05, bench.store.traits.bound.total_seconds() / 4))
        await closing.close()

    expect([result.id for result in await verb]).equals([first.id], "a handle that closes concerns no other one")


@check("life.open", "life.durable")
async def what_a_closed_handle_wrote_is_there_for_the_next(bench: Bench) -> None:
    writer = await bench.handle()
    (result,) = await writer.enqueue([bench.new(payload="kept", unique_key="k")])
    await writer.close()
    reader = await bench.handle()

    jobs = await bench.claim(store=reader)

    expect([(job.id, job.payload) for job in jobs]).equals([(result.id, "kept")], "when a verb returns, it is written")
    done = await bench.store.transition(jobs[0].id, from_=Running(), to=Succeeded(), fence=jobs[0].fence)
    expect(done).equals(True, "and what one handle claimed another may finish")


@check("life.isolation", "life.durable")
async def each_handle_sees_at_once_what_another_has_written(bench: Bench) -> None:
    other = await bench.handle()
    for _ in range(3):
        expect(await other.next_due(queues=[QUEUE], kinds=[KIND])).equals(None, "nothing waits")
        job = await bench.claimed()
        expect(await other.next_due(queues=[QUEUE], kinds=[KIND])).equals(
            job.lease_until, "a read sees what was committed before it, and no older snapshot"
        )
        moved = await other.transition(job.id, from_=Running(), to=Succeeded(), fence=job.fence)
        expect(moved).equals(True, "a write sees what was committed before it")


@check("life.isolation", "time.aware", given="hostile")
async def unfavourable_defaults_do_not_matter(bench: Bench) -> None:
    await bench.make_defaults_hostile()
    store = await bench.handle()

    await store.enqueue([bench.new(unique_key="k"), bench.new(unique_key="k"), bench.new(run_at=HOUR)])
    (job,) = await bench.claim(store=store)
    held = await store.heartbeat({job.id: job.fence}, worker=WORKER, extend=2 * HOUR)
    moved = await store.transition(job.id, from_=Running(), to=Failed(HOUR), fence=job.fence)

    expect((held, moved)).equals(({job.id}, True), "a store sets on its own connections what it depends on")
    expect(job.enqueued_at.utcoffset()).equals(timedelta(0), "every instant is in UTC whatever the zone of the session")


@check("life.deadlock", "life.errors")
async def any_mix_of_verbs_finishes_without_an_error(bench: Bench) -> None:
    keys = [f"k{number}" for number in range(12)]
    spec = ScheduleSpec(id=S, kind=KIND, fingerprint="v1", description="", fire_at=await bench.store.now())
    await bench.store.upsert_schedules([spec])
    ids = await bench.enqueue_many(30)

    async def mix(store: JobStore, number: int) -> None:
        forward = number % 2 == 0
        for turn in range(4):
            order = keys if forward else keys[::-1]
            await store.enqueue([bench.new(unique_key=key) for key in order])
            jobs = await bench.claim(store=store, limit=10, worker=OTHER_WORKER)
            held = {job.id: job.fence for job in (jobs if forward else jobs[::-1])}
            await store.heartbeat(held, worker=OTHER_WORKER, extend=HOUR)
            for job in jobs[:5]:
                await store.transition(job.id, from_=Running(), to=Failed(NOTHING), fence=job.fence)
            for id_ in ids if forward else ids[::-1]:
                await store.transition(id_, from_=Enqueued(), to=Cancelled())
            for fire in await store.due_schedules(ids=[S], limit=1, lease=HOUR, worker=OTHER_WORKER):
                runs = [bench.new(unique_key=key) for key in order]
                await store.complete_fire(S, fence=fire.fence, runs=runs, next_fire_at=spec.fire_at)
            await store.upsert_schedules([spec])
            await store.sweep(RetentionPolicy(cancelled_for=NOTHING), limit=5 + turn)

    await bench.gathered(4, mix)
    await bench.threaded(4, mix)

    expect(await bench.store.next_due(queues=[QUEUE], kinds=[KIND])).differs(None, "and the store goes on")


@check("life.arguments", "life.errors")
async def leases_and_extensions_are_longer_than_nothing(bench: Bench) -> None:
    why = "leases, extensions and ttls are positive"
    job = await bench.claimed()
    waiting = await bench.enqueue_one()

    for length in (NOTHING, -MINUTE, timedelta(microseconds=-1)):
        with expect_refusal(InvalidInput, why):
            await bench.claim(lease=length)
        with expect_refusal(InvalidInput, why):
            await bench.store.heartbeat({job.id: job.fence}, worker=WORKER, extend=length)
        with expect_refusal(InvalidInput, why):
            await bench.store.due_schedules(ids=[S], limit=1, lease=length, worker=WORKER)

    expect(await bench.claimed_ids()).equals([waiting], "nothing was changed")
    await bench.settle(job, Succeeded())


@check("life.arguments", needs=IdempotencyStore)
async def a_ttl_of_a_key_is_longer_than_nothing(bench: Bench) -> None:
    for length in (NOTHING, -MINUTE):
        with expect_refusal(InvalidInput, "leases, extensions and ttls are positive"):
            await bench.keys.claim_key("scope", "key", length)

    expect(await bench.keys.claim_key("scope", "key", HOUR)).differs(None, "nothing was written")


@check("life.arguments", needs=LeaseStore)
async def a_ttl_of_a_lease_is_longer_than_nothing(bench: Bench) -> None:
    for length in (NOTHING, -MINUTE):
        with expect_refusal(InvalidInput, "leases, extensions and ttls are positive"):
            await bench.leases.acquire_lease("name", "me", length)

    expect(await bench.leases.acquire_lease("name", "other", HOUR)).differs(None, "nothing was written")


@check("life.arguments", "fleet.beat", needs=FleetStore)
async def a_worker_lives_longer_than_nothing(bench: Bench) -> None:
    beat = WorkerBeat(id=WORKER, host="h", pid=1, version="1", queues=(), kinds=())
    for length in (NOTHING, -MINUTE):
        with expect_refusal(InvalidInput, "leases, extensions and ttls are positive"):
            await bench.fleet.beat(beat, live_for=length)

    expect(await bench.fleet.workers()).equals([], "nothing was written")


@check("life.errors", given="cut")
async def a_cut_connection_raises_the_projects_errors_alone_and_is_remade(bench: Bench) -> None:
    await bench.enqueue_one(unique_key="k")
    await bench.cut_connections()

    for _ in range(5):
        try:
            await bench.enqueue_one(unique_key="k")
        except KlokkaError:
            continue
        break

    expect(len(await bench.claim())).equals(1, "the store is usable again, and nothing was lost or doubled")


@check("life.cancel", "enqueue.atomic", "claim.wait-free")
async def a_cancelled_enqueue_stores_all_of_its_jobs_or_none(bench: Bench) -> None:
    for steps in range(12):
        await _cancelled_after(steps, bench.store.enqueue([bench.new(), bench.new(), bench.new()]))

        claimed = await asyncio.wait_for(bench.claim(), _patience(bench))
        expect(len(claimed) % 3).equals(0, "a verb cancelled at any await leaves an outcome that the contract allows")
    expect(len(await bench.enqueue_many(2))).equals(2, "and the store usable")


@check("life.cancel", "claim.wait-free", "claim.exclusive")
async def a_cancelled_claim_hides_its_jobs_for_no_longer_than_its_lease(bench: Bench) -> None:
    other = await bench.handle()
    for steps in range(12):
        ids = await bench.enqueue_many(3)
        await _cancelled_after(steps, bench.claim(lease=bench.short))

        await _expect_claimable(bench, other, ids)


@check("life.cancel", "transition.once")
async def a_cancelled_transition_was_applied_whole_or_not_at_all(bench: Bench) -> None:
    for steps in range(12):
        job = await bench.claimed()
        settle = bench.store.transition(job.id, from_=Running(), to=DeadLettered(), fence=job.fence)
        await _cancelled_after(steps, settle)

        again = await bench.store.transition(job.id, from_=Running(), to=Cancelled(), fence=job.fence)
        moved = await bench.store.transition(job.id, from_=DeadLettered(), to=Succeeded())

        expect((again, moved)).is_in([(True, False), (False, True)], "an outcome that the contract allows")


@check("life.cancel", "schedule.complete")
async def a_cancelled_completion_was_applied_whole_or_not_at_all(bench: Bench) -> None:
    at = await bench.store.now() - MINUTE
    await bench.store.upsert_schedules([ScheduleSpec(id=S, kind=KIND, fingerprint="v1", description="", fire_at=at)])
    for steps in range(12):
        (fire,) = await bench.store.due_schedules(ids=[S], limit=1, lease=HOUR, worker=WORKER)
        complete = bench.store.complete_fire(S, fence=fire.fence, runs=[bench.new()], next_fire_at=at)
        await _cancelled_after(steps, complete)

        again = await bench.store.complete_fire(S, fence=fire.fence, runs=[bench.new()], next_fire_at=at)

        claimed = await bench.claim()
        expect(len(claimed)).equals(1, f"run and fire go together; the second completion gave {again}")
        await bench.settle(claimed[0], Succeeded())


@check("life.cancel", "life.deadlock", "claim.wait-free")
async def cancelled_verbs_hold_up_nobody(bench: Bench) -> None:
    stores = [await bench.handle() for _ in range(4)]
    for steps in range(6):
        ids = await bench.enqueue_many(4)
        verbs = [store.enqueue([bench.new(unique_key="k")]) for store in stores]
        claims = [bench.claim(store=store, lease=bench.short) for store in stores]
        await asyncio.gather(*(_cancelled_after(steps, verb) for verb in [*verbs, *claims]))

        await _expect_claimable(bench, bench.store, ids)


async def _expect_claimable(bench: Bench, store: JobStore, ids: list[JobId]) -> None:
    """All of these can be claimed and finished, at the latest when the lease of a cancelled claim has ended.

    A verb that was under way when it was cancelled may take effect a little later, so time passes more than once.
    """
    left = set(ids)
    until = time.monotonic() + _patience(bench)
    while left and time.monotonic() < until:
        await bench.pass_time(bench.short)
        for job in await bench.claim(store=store, worker=OTHER_WORKER):
            await bench.settle(job, Succeeded())
            left.discard(job.id)
    expect(left).equals(set[JobId](), "either not claimed, or claimable when the lease ends: none is hidden for ever")


def _patience(bench: Bench) -> float:
    """Seconds in which a verb must end, whoever stopped inside of another one."""
    return (bench.store.traits.bound + bench.subject.patience).total_seconds()


async def _cancelled_after(steps: int, verb: Awaitable[object]) -> None:
    """Lets a verb go on for some steps of the loop and cancels it, if it has not ended."""
    task = asyncio.ensure_future(verb)
    for _ in range(steps):
        await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task])
    if not task.cancelled() and (error := task.exception()) is not None:
        raise error
