"""heartbeat: leases that are kept, and leases that are lost."""

from dataclasses import replace
from datetime import timedelta

from klokka.core.ids import MAX_ID, Fence, JobId
from klokka.core.states import Cancelled, DeadLettered, Enqueued, Failed, Running, Scheduled, State, Succeeded
from klokka.spi.query import QueryableStore
from klokka.tck.bench import HOUR, MINUTE, OTHER_WORKER, SECOND, WORKER, Bench
from klokka.tck.check import check
from klokka.tck.violations import expect

LEFT: tuple[State, ...] = (
    Succeeded(),
    DeadLettered(),
    Cancelled(),
    Failed(HOUR),
    Scheduled(HOUR),
    Enqueued(),
)


@check("heartbeat.extends", "time.store-clock", needs=QueryableStore)
async def a_held_lease_ends_at_the_stores_now_plus_the_extension(bench: Bench) -> None:
    job = await bench.claimed(lease=MINUTE)

    held, moment = await bench.timed(bench.store.heartbeat({job.id: job.fence}, worker=WORKER, extend=HOUR))

    expect(held).equals({job.id}, "this worker holds the job under this fence")
    lease_until = (await bench.details(job.id)).lease_until
    expect(lease_until).within(moment.start + HOUR, moment.end + HOUR, "the lease is the store's now plus `extend`")


@check("heartbeat.extends", needs=QueryableStore)
async def a_lease_is_never_made_shorter(bench: Bench) -> None:
    job = await bench.claimed(lease=HOUR)

    held = await bench.store.heartbeat({job.id: job.fence}, worker=WORKER, extend=SECOND)

    expect(held).equals({job.id}, "it is held all the same")
    expect((await bench.details(job.id)).lease_until).equals(job.lease_until, "never to less than it was")


@check("heartbeat.extends", "claim.exclusive", given="advance")
async def a_renewed_lease_keeps_others_away_up_to_its_new_end(bench: Bench) -> None:
    job = await bench.claimed(lease=MINUTE)
    for _ in range(5):
        await bench.pass_time(MINUTE - bench.step)
        held = await bench.store.heartbeat({job.id: job.fence}, worker=WORKER, extend=MINUTE)
        expect(held).equals({job.id}, "renewed in time, a lease lasts as long as its worker lives")
        expect(await bench.claim(worker=OTHER_WORKER)).equals([], "nobody else gets the job meanwhile")

    await bench.pass_time(MINUTE - bench.step)
    expect(await bench.claim(worker=OTHER_WORKER)).equals([], "one step before its new end the lease holds")
    await bench.pass_time(bench.step)
    expect(await bench.claimed_ids(worker=OTHER_WORKER)).equals([job.id], "at its new end it is over")


@check("heartbeat.held", given="advance")
async def a_lease_is_held_up_to_the_instant_before_its_end(bench: Bench) -> None:
    early = await bench.claimed(lease=MINUTE)
    await bench.pass_time(MINUTE - bench.step)
    expect(await bench.store.heartbeat({early.id: early.fence}, worker=WORKER, extend=bench.step)).equals(
        {early.id}, "one step before its end it is held"
    )
    await bench.pass_time(bench.step)

    held = await bench.store.heartbeat({early.id: early.fence}, worker=WORKER, extend=HOUR)

    expect(held).equals(set[JobId](), "at its end a lease is over: an expired one is revived by claim alone")


@check("heartbeat.held", "claim.expired")
async def a_lease_that_ended_is_not_held_though_nobody_took_it(bench: Bench) -> None:
    job = await bench.claimed(lease=bench.short)
    await bench.pass_time(bench.short)

    for _ in range(2):
        held = await bench.store.heartbeat({job.id: job.fence}, worker=WORKER, extend=HOUR)
        expect(held).equals(set[JobId](), "an expired lease is revived by claim alone")

    expect(await bench.claimed_ids(worker=OTHER_WORKER)).equals([job.id], "the job is claimable by anyone")


@check("heartbeat.held", "claim.fence")
async def a_job_that_another_took_over_is_lost(bench: Bench) -> None:
    mine = await bench.claimed(lease=bench.short)
    await bench.pass_time(bench.short)
    theirs = await bench.claim_one(worker=OTHER_WORKER)

    expect(await bench.store.heartbeat({mine.id: mine.fence}, worker=WORKER, extend=HOUR)).equals(
        set[JobId](), "not held: another's"
    )
    expect(await bench.store.heartbeat({theirs.id: theirs.fence}, worker=OTHER_WORKER, extend=HOUR)).equals(
        {theirs.id}, "the new holder is undisturbed"
    )


@check("heartbeat.held", "claim.fence")
async def the_same_worker_loses_its_earlier_claim_of_a_job(bench: Bench) -> None:
    first = await bench.claimed(lease=bench.short)
    await bench.pass_time(bench.short)
    second = await bench.claim_one()

    expect(await bench.store.heartbeat({first.id: first.fence}, worker=WORKER, extend=HOUR)).equals(
        set[JobId](), "not held: another fence, though worker and job are the same"
    )
    expect(await bench.store.heartbeat({second.id: second.fence}, worker=WORKER, extend=HOUR)).equals(
        {second.id}, "the current fence is held"
    )


@check("heartbeat.held")
async def worker_and_fence_must_both_be_right(bench: Bench) -> None:
    job = await bench.claimed()
    wrong = [(job.fence, OTHER_WORKER), (job.fence + 1, WORKER), (job.fence - 1, WORKER), (-1, WORKER)]

    for fence, worker in wrong:
        held = await bench.store.heartbeat({job.id: Fence(fence)}, worker=worker, extend=HOUR)
        expect(held).equals(set[JobId](), "only the holder under its fence holds a job")


@check("heartbeat.held")
async def fences_belong_to_their_jobs(bench: Bench) -> None:
    one = await bench.claimed()
    two = await bench.claimed()
    await bench.settle(two, Enqueued())
    two = await bench.claim_one()
    expect(two.fence).differs(one.fence, "the second claim of a job has a greater fence than its first")

    swapped = await bench.store.heartbeat({one.id: two.fence, two.id: one.fence}, worker=WORKER, extend=HOUR)

    expect(swapped).equals(set[JobId](), "a fence that belongs to another job of the call is another fence")


@check("heartbeat.held", "transition.fence")
async def a_job_that_left_running_is_not_held(bench: Bench) -> None:
    for to in LEFT:
        job = await bench.claimed()
        moved = await bench.store.transition(job.id, from_=Running(), to=to)
        expect(moved).equals(True, "without a fence a job may leave Running too")

        held = await bench.store.heartbeat({job.id: job.fence}, worker=WORKER, extend=HOUR)

        expect(held).equals(set[JobId](), f"not held: no longer running, but {to}")
        await bench.store.transition(job.id, from_=Enqueued(), to=Cancelled())


@check("heartbeat.held", "life.arguments")
async def unknown_ids_are_not_held_and_no_error(bench: Bench) -> None:
    job = await bench.claimed()
    unknown = {JobId(number): job.fence for number in (0, -1, job.id + 1000, MAX_ID, MAX_ID + 1, 2**70)}

    held = await bench.store.heartbeat({**unknown, job.id: job.fence}, worker=WORKER, extend=HOUR)

    expect(held).equals({job.id}, "an id that this store cannot have issued is unknown and not an error")


@check("heartbeat.held")
async def of_many_exactly_those_still_held_come_back(bench: Bench) -> None:
    await bench.enqueue_many(1100)
    jobs = await bench.claim(limit=1100)
    finished = jobs[::3]
    for job in finished[:20]:
        await bench.settle(job, Succeeded())
    lost = {job.id for job in finished[:20]}

    held = await bench.store.heartbeat({job.id: job.fence for job in jobs}, worker=WORKER, extend=HOUR)

    expect(held).equals({job.id for job in jobs} - lost, "exactly the ids still held")
    expect(await bench.store.heartbeat({}, worker=WORKER, extend=HOUR)).equals(set[JobId](), "nothing in, nothing out")


@check("heartbeat.quiet", needs=QueryableStore)
async def nothing_but_the_lease_changes(bench: Bench) -> None:
    job = await bench.claimed(unique_key="k", headers={"a": "b"})
    bystander = await bench.claimed(worker=OTHER_WORKER)
    before, bystander_before = await bench.details(job.id), await bench.details(bystander.id)

    await bench.store.heartbeat(
        {job.id: job.fence, bystander.id: bystander.fence}, worker=WORKER, extend=timedelta(days=2)
    )

    after = await bench.details(job.id)
    expect(after.lease_until).above(before.lease_until, "the lease is longer now")
    expect(replace(after, lease_until=before.lease_until)).equals(before, "nothing but the lease changes")
    expect(await bench.details(bystander.id)).equals(bystander_before, "another's job is not touched")
