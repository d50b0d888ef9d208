"""claim: who may take a job, and what the claim says."""

from datetime import timedelta

from klokka.core.ids import JobId, WorkerId
from klokka.core.records import ClaimedJob
from klokka.core.states import Cancelled, DeadLettered, Enqueued, Failed, Scheduled, State, Succeeded
from klokka.errors import InvalidInput
from klokka.spi.store import JobStore
from klokka.tck.bench import HOUR, KIND, MINUTE, OTHER_KIND, OTHER_WORKER, QUEUE, SECOND, Bench
from klokka.tck.check import check
from klokka.tck.violations import expect, expect_refusal

ENDS: tuple[State, ...] = (Succeeded(), DeadLettered(), Cancelled())


@check("claim.exclusive")
async def a_claimed_job_is_given_to_nobody_else(bench: Bench) -> None:
    job = await bench.claimed()
    other = await bench.handle()

    again = await bench.claim(worker=OTHER_WORKER, store=other)
    same_worker = await bench.claim()

    expect(again).equals([], f"job {job.id} is under an unexpired lease")
    expect(same_worker).equals([], "the holder itself gets no second lease on it")


@check("claim.exclusive", "claim.exact")
async def handles_that_claim_at_once_share_the_jobs_and_no_job_twice(bench: Bench) -> None:
    async def drain(store: JobStore, number: int) -> list[JobId]:
        claims = [await bench.claimed_ids(limit=7, worker=WorkerId(f"w{number}"), store=store) for _ in range(25)]
        return [job for mine in claims for job in mine]

    for crowd in (bench.gathered, bench.threaded):
        ids = await bench.enqueue_many(150)

        drained = [job for mine in await crowd(6, drain) for job in mine]
        drained += await bench.claimed_ids(limit=200)

        expect(sorted(drained)).equals(ids, "every job is in one claim, whatever the number of callers")


@check("claim.exclusive", "claim.expired", "claim.fence")
async def of_many_who_take_over_an_ended_lease_one_gets_the_job(bench: Bench) -> None:
    async def take(store: JobStore, number: int) -> list[ClaimedJob]:
        return await bench.claim(worker=WorkerId(f"w{number}"), store=store)

    for crowd in (bench.gathered, bench.threaded):
        first = await bench.claimed(lease=bench.short)
        await bench.pass_time(bench.short)

        taken = [job for jobs in await crowd(6, take) for job in jobs]

        expect([job.id for job in taken]).equals([first.id], "no two unexpired leases on a job")
        expect(taken[0].fence).above(first.fence, "each claim carries a greater fence")


@check("claim.due")
async def nothing_is_given_before_its_time(bench: Bench) -> None:
    now = await bench.store.now()
    await bench.enqueue_one(run_at=HOUR)
    await bench.enqueue_one(run_at=now + HOUR)

    expect(await bench.claim()).equals([], "nothing before its time")


@check("claim.due", "time.store-clock", given="advance")
async def a_scheduled_job_is_due_exactly_at_its_time(bench: Bench) -> None:
    now = await bench.store.now()
    at = bench.cut(now) + MINUTE
    jobs = [await bench.enqueue_one(run_at=at), await bench.enqueue_one(run_at=at - now)]

    await bench.pass_time(at - now - bench.step)
    expect(await bench.claim()).equals([], "one step before its time nothing is due")
    await bench.pass_time(bench.step)
    expect(await bench.claimed_ids()).equals(jobs, "a job due exactly now is due")


@check("claim.due", given="advance")
async def a_failed_job_is_due_exactly_at_its_retry(bench: Bench) -> None:
    job = await bench.claimed()
    now = await bench.store.now()
    at = bench.cut(now) + MINUTE
    await bench.settle(job, Failed(at))

    await bench.pass_time(at - now - bench.step)
    expect(await bench.claim()).equals([], "one step before `retry_at` nothing is due")
    await bench.pass_time(bench.step)
    expect(await bench.claimed_ids()).equals([job.id], "a Failed job whose `retry_at` has come is claimable")


@check("claim.due")
async def waiting_jobs_are_claimable_after_their_time_whatever_their_state(bench: Bench) -> None:
    failed = await bench.claimed()
    await bench.settle(failed, Failed(bench.short))
    snoozed = await bench.claimed()
    await bench.settle(snoozed, Scheduled(bench.short))
    scheduled = await bench.enqueue_one(run_at=bench.short)
    expect(await bench.store.transition(scheduled, from_=Enqueued(), to=Succeeded())).equals(False, "it waits")

    await bench.pass_time(bench.short)

    expect(set(await bench.claimed_ids())).equals(
        {failed.id, snoozed.id, scheduled}, "due-ness is decided by time and not by state"
    )


@check("claim.due")
async def a_job_that_has_ended_is_never_given(bench: Bench) -> None:
    for end in ENDS:
        await bench.standing(end)

    await bench.pass_time(bench.short)

    expect(await bench.claim()).equals([], "terminal jobs are not claimable")


@check("claim.expired", given="advance")
async def a_lease_covers_the_instants_before_its_end(bench: Bench) -> None:
    job = await bench.claimed(lease=MINUTE)
    other = await bench.handle()

    await bench.pass_time(MINUTE - bench.step)
    expect(await bench.claim(worker=OTHER_WORKER, store=other)).equals([], "one step before its end a lease holds")
    await bench.pass_time(bench.step)
    expect(await bench.claimed_ids(worker=OTHER_WORKER, store=other)).equals([job.id], "at its end it is over")


@check("claim.expired", "claim.lapses", "claim.attempt", "claim.fence")
async def a_job_whose_lease_ended_is_claimable_by_anyone(bench: Bench) -> None:
    first = await bench.claimed(lease=bench.short)
    await bench.pass_time(bench.short)

    second = await bench.claim_one(worker=OTHER_WORKER, lease=bench.short)
    await bench.pass_time(bench.short)
    third = await bench.claim_one(worker=OTHER_WORKER)

    expect([first.id, second.id, third.id]).equals([first.id] * 3, "an ended lease makes the job claimable again")
    expect([first.attempt, second.attempt, third.attempt]).equals([1, 2, 3], "each claim adds one to `attempt`")
    expect([first.lapses, second.lapses, third.lapses]).equals([0, 1, 2], "taking over an ended lease adds a lapse")
    expect(second.fence).above(first.fence, "each claim carries a greater fence")
    expect(third.fence).above(second.fence, "each claim carries a greater fence")


@check("claim.attempt", "claim.lapses")
async def failures_count_as_attempts_and_not_as_lapses(bench: Bench) -> None:
    job = await bench.claimed()
    for attempt in (1, 2, 3):
        expect((job.attempt, job.lapses)).equals((attempt, 0), "each claim adds one to `attempt`, the first gives 1")
        await bench.settle(job, Failed(timedelta(0)))
        job = await bench.claim_one()

    expect((job.attempt, job.lapses)).equals((4, 0), "lapses count lost workers, apart from failures")


@check("claim.fence", "transition.refund", "transition.restart")
async def fences_grow_through_everything(bench: Bench) -> None:
    job = await bench.claimed()
    for way in ("retry", "snooze", "refund", "expiry", "requeue", "redrive"):
        match way:
            case "retry":
                await bench.settle(job, Failed(timedelta(0)))
            case "snooze":
                await bench.settle(job, Scheduled(timedelta(0)), refund=True)
            case "refund":
                await bench.settle(job, Enqueued(), refund=True)
            case "expiry":
                await bench.settle(job, Enqueued())
                job = await bench.claim_one(lease=bench.short)
                await bench.pass_time(bench.short)
            case "requeue":
                await bench.settle(job, Cancelled())
                await bench.store.transition(job.id, from_=Cancelled(), to=Enqueued())
            case _:
                await bench.settle(job, DeadLettered())
                await bench.store.transition(job.id, from_=DeadLettered(), to=Enqueued())
        again = await bench.claim_one()
        expect(again.fence).above(job.fence, f"each claim carries a fence greater than every earlier one, across {way}")
        job = again


@check("claim.lease", "time.store-clock")
async def a_lease_ends_at_the_stores_now_plus_its_length(bench: Bench) -> None:
    for lease in (SECOND, HOUR, timedelta(days=400), bench.step):
        await bench.enqueue_one()
        job, moment = await bench.timed(bench.claim_one(lease=lease))
        expect(job.lease_until).within(moment.start + lease, moment.end + lease, "`lease_until` is now plus `lease`")
        await bench.settle(job, Succeeded())


@check("claim.lease", "claim.expired")
async def whoever_takes_over_gets_a_whole_lease(bench: Bench) -> None:
    await bench.claimed(lease=bench.short)
    await bench.pass_time(2 * bench.short)

    job, moment = await bench.timed(bench.claim_one(worker=OTHER_WORKER))

    expect(job.lease_until).within(
        moment.start + HOUR, moment.end + HOUR, "`lease_until` is the store's now plus `lease`"
    )


@check("claim.scheduled-for")
async def the_time_a_job_was_meant_for_stays(bench: Bench) -> None:
    meant = bench.cut(await bench.store.now()) - HOUR
    job = await bench.claimed(run_at=meant)

    for to in (Failed(timedelta(0)), Scheduled(timedelta(0)), Enqueued()):
        expect(job.scheduled_for).equals(meant, "`scheduled_for` is the first `run_at`")
        await bench.settle(job, to)
        job = await bench.claim_one()
    await bench.settle(job, DeadLettered())
    await bench.store.transition(job.id, from_=DeadLettered(), to=Enqueued())

    job = await bench.claim_one()
    expect(job.scheduled_for).equals(meant, "retries, snoozes and restarts do not change `scheduled_for`")


@check("claim.kinds")
async def other_kinds_are_neither_given_nor_counted_nor_changed(bench: Bench) -> None:
    await bench.enqueue_many(300, kind=OTHER_KIND, run_at=timedelta(0))
    wanted = await bench.enqueue_many(3)
    await bench.enqueue_many(5, kind="tck.third")

    claimed = await bench.claimed_ids(kinds=[KIND, "tck.unknown"], limit=2)
    others = await bench.claim(kinds=[OTHER_KIND], limit=400)

    expect(claimed).equals(wanted[:2], "only the given kinds, however many others stand in front")
    expect({(job.attempt, job.lapses) for job in others}).equals({(1, 0)}, "others are not changed")
    expect(len(others)).equals(300, "others are not claimed")


@check("claim.kinds", "claim.exclusive")
async def a_kind_named_twice_gives_no_job_twice(bench: Bench) -> None:
    ids = await bench.enqueue_many(3)

    claimed = await bench.claimed_ids(kinds=[KIND, OTHER_KIND, KIND])

    expect(claimed).equals(ids, "a job is in one claim, and in it once")


@check("claim.kinds")
async def a_kind_is_compared_as_a_whole(bench: Bench) -> None:
    await bench.enqueue_one(kind="email.send")
    await bench.enqueue_one(kind="email.send.now")
    await bench.enqueue_one(kind="email_send")

    claimed = await bench.claim(kinds=["email.send"])

    expect([job.kind for job in claimed]).equals(["email.send"], "only the given kinds")


@check("claim.kinds-empty")
async def no_kinds_or_no_queues_give_no_jobs(bench: Bench) -> None:
    job = await bench.enqueue_one()

    expect(await bench.claim(kinds=[])).equals([], "no kinds, no jobs")
    expect(await bench.claim(queues=[])).equals([], "no queues, no jobs")
    expect(await bench.claim(queues=["unknown"])).equals([], "a queue that nobody used has no jobs")
    expect(await bench.claimed_ids()).equals([job], "and nothing was changed")


@check("claim.limit")
async def a_claim_gives_at_most_its_limit(bench: Bench) -> None:
    ids = await bench.enqueue_many(5)

    expect(await bench.claim(limit=0)).equals([], "zero gives nothing")
    expect(await bench.claimed_ids(limit=1)).equals(ids[:1], "at most `limit`")
    expect(await bench.claimed_ids(limit=3)).equals(ids[1:4], "at most `limit`")
    expect(await bench.claimed_ids(limit=1000)).equals(ids[4:], "and no more than there are")


@check("claim.limit", "claim.caps", "life.errors")
async def a_negative_limit_or_cap_is_an_error(bench: Bench) -> None:
    job = await bench.enqueue_one()

    with expect_refusal(InvalidInput, "a negative limit is an error"):
        await bench.claim(limit=-1)
    with expect_refusal(InvalidInput, "a negative cap is an error"):
        await bench.claim(caps={QUEUE: -1})

    expect(await bench.claimed_ids()).equals([job], "nothing was changed")


@check("claim.exact", "claim.limit")
async def a_thousand_jobs_are_given_in_one_claim(bench: Bench) -> None:
    ids = await bench.enqueue_many(1000)

    claimed = await bench.claimed_ids(limit=1000)

    expect(claimed).equals(ids, "with no other verb in flight a claim gives exactly the first `limit`")
