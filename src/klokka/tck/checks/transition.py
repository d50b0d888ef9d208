"""transition: compare and set, fences, edges and times."""

from datetime import timedelta

from klokka.core.ids import MAX_ID, Fence, JobId
from klokka.core.states import (
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
    status_of,
)
from klokka.errors import InvalidInput
from klokka.spi.query import QueryableStore
from klokka.spi.store import JobStore
from klokka.tck.bench import HOUR, MINUTE, OTHER_WORKER, WORKER, Bench
from klokka.tck.check import check
from klokka.tck.violations import expect, expect_refusal

STATES: tuple[State, ...] = (
    Scheduled(),
    Enqueued(),
    Running(),
    Succeeded(),
    Failed(),
    DeadLettered(),
    Cancelled(),
)
TARGETS: tuple[State, ...] = (
    Scheduled(2 * HOUR),
    Enqueued(),
    Succeeded(),
    Failed(2 * HOUR),
    DeadLettered(),
    Cancelled(),
)


@check("transition.cas", needs=QueryableStore)
async def a_job_in_another_state_is_left_alone(bench: Bench) -> None:
    for stored in STATES:
        job = await bench.standing(stored, queue=status_of(stored))
        before = await bench.details(job)
        for from_ in STATES:
            if status_of(from_) is status_of(stored):
                continue
            for to in TARGETS:
                moved = await bench.store.transition(job, from_=from_, to=to)
                expect(moved).equals(False, f"a job in {stored} is not in {from_}")
        expect(await bench.details(job)).equals(before, "otherwise False, and nothing changed")


@check("transition.any-edge", "transition.cas", "transition.times", needs=QueryableStore)
async def every_edge_is_applied_and_sets_what_belongs_to_its_state(bench: Bench) -> None:
    for stored in STATES:
        for to in TARGETS:
            job = await bench.standing(stored, queue=f"{status_of(stored)}-{status_of(to)}")
            before = await bench.details(job)
            bench.let_go_on()

            moved, moment = await bench.timed(bench.store.transition(job, from_=stored, to=to))

            expect(moved).equals(True, f"a store never judges whether {to} may follow {stored}")
            after = await bench.details(job)
            summary = after.summary
            expect(summary.status).equals(status_of(to), "the job stands in its new state")
            if status_of(to) in TERMINAL:
                expect(summary.terminal_at).within(moment.start, moment.end, "`terminal_at` is the store's now")
            else:
                expect(summary.terminal_at).equals(None, "`terminal_at` is set in terminal states alone")
            if isinstance(to, Failed):
                expect(summary.retry_at).within(
                    moment.start + 2 * HOUR, moment.end + 2 * HOUR, "`retry_at` is a duration from the store's now"
                )
            else:
                expect(summary.retry_at).equals(None, "`retry_at` is set in Failed alone")
            if isinstance(to, Scheduled):
                expect(summary.run_at).within(moment.start + 2 * HOUR, moment.end + 2 * HOUR, "due at its time")
            if isinstance(to, Enqueued):
                expect(summary.run_at).within(moment.start, moment.end, "`Enqueued` makes the job due now")
            expect((after.lease_until, after.holder)).equals((None, None), "lease and holder are set in Running alone")
            expect((after.fence, summary.enqueued_at, after.scheduled_for)).equals(
                (before.fence, before.summary.enqueued_at, before.scheduled_for), "a transition leaves these alone"
            )
            expect((after.payload, after.headers, after.unique_key, summary.queue, summary.kind)).equals(
                (before.payload, before.headers, before.unique_key, before.summary.queue, before.summary.kind),
                "a transition leaves the job itself alone",
            )


@check("transition.times", "claim.lease", needs=QueryableStore)
async def a_running_job_has_a_lease_and_a_holder_and_no_other_time(bench: Bench) -> None:
    for state in (Enqueued(), Failed(timedelta(0))):
        job = await bench.standing(state)
        claimed = await bench.claim_one()

        details = await bench.details(job)

        expect((details.summary.status, details.holder, details.lease_until, details.fence)).equals(
            (JobStatus.RUNNING, WORKER, claimed.lease_until, claimed.fence), "Running has lease and holder"
        )
        expect((details.summary.retry_at, details.summary.terminal_at)).equals(
            (None, None), "`retry_at` and `terminal_at` are set in their states alone"
        )
        await bench.settle(claimed, Succeeded())


@check("transition.any-edge")
async def running_is_refused_since_only_claim_makes_a_job_run(bench: Bench) -> None:
    for stored in STATES:
        job = await bench.standing(stored, queue=status_of(stored))

        with expect_refusal(InvalidInput, "`to=Running` is refused by a typed error"):
            await bench.store.transition(job, from_=stored, to=Running())

        moved = await bench.store.transition(job, from_=stored, to=Cancelled())
        expect(moved).equals(True, f"the job still stands in {stored}")


@check("transition.cas", "life.arguments")
async def an_unknown_id_is_false_and_no_error(bench: Bench) -> None:
    known = await bench.enqueue_one()

    for number in (0, -1, known + 1000, MAX_ID, MAX_ID + 1, 2**70):
        moved = await bench.store.transition(JobId(number), from_=Enqueued(), to=Succeeded())
        expect(moved).equals(False, "an id that this store cannot have issued is unknown")


@check("transition.cas", "time.resolution")
async def a_time_given_in_from_is_compared_too(bench: Bench) -> None:
    at = bench.cut(await bench.store.now()) + HOUR
    scheduled = await bench.enqueue_one(run_at=at)
    failed = await bench.claimed()
    await bench.settle(failed, Failed(at))
    fine = at + bench.step - timedelta(microseconds=1)

    async def moved(job: JobId, from_: Scheduled | Failed) -> bool:
        return await bench.store.transition(job, from_=from_, to=type(from_)(at))

    for other in (at + bench.step, at - bench.step, at + HOUR):
        expect(await moved(scheduled, Scheduled(other))).equals(False, "scheduled for another time")
        expect(await moved(failed.id, Failed(other))).equals(False, "its retry is booked for another time")
    for same in (at, fine):
        expect(await moved(scheduled, Scheduled(same))).equals(True, "times are compared at the store's resolution")
        expect(await moved(failed.id, Failed(same))).equals(True, "times are compared at the store's resolution")
    expect(await moved(scheduled, Scheduled())).equals(True, "none given matches any")
    expect(await moved(failed.id, Failed())).equals(True, "none given matches any")


@check("transition.times", "transition.cas")
async def a_missing_time_and_a_duration_to_compare_with_are_refused(bench: Bench) -> None:
    job = await bench.enqueue_one(run_at=HOUR)

    for to in (Scheduled(), Failed(), Scheduled(timedelta(seconds=-1)), Failed(timedelta(days=-1))):
        with expect_refusal(InvalidInput, "Scheduled and Failed as targets need a time, and waits are not negative"):
            await bench.store.transition(job, from_=Scheduled(), to=to)
    for from_ in (Scheduled(HOUR), Failed(HOUR)):
        with expect_refusal(InvalidInput, "a duration cannot be compared with a stored time"):
            await bench.store.transition(job, from_=from_, to=Enqueued())

    expect(await bench.store.transition(job, from_=Scheduled(), to=Cancelled())).equals(True, "nothing was changed")


@check("transition.times", "claim.order")
async def instants_and_waits_make_a_job_due_at_their_time(bench: Bench) -> None:
    now = await bench.store.now()
    first = await bench.claimed()
    second = await bench.claimed()
    third = await bench.claimed()
    later = await bench.claimed()
    await bench.settle(third, Enqueued())
    await bench.settle(second, Scheduled(now - HOUR))
    await bench.settle(first, Failed(now - 2 * HOUR))
    await bench.settle(later, Failed(HOUR))

    expect(await bench.claimed_ids()).equals([first.id, second.id, third.id], "claim orders by the time that was set")


@check("transition.times", given="advance")
async def a_wait_counts_from_the_stores_now(bench: Bench) -> None:
    for to in (Scheduled(MINUTE), Failed(MINUTE)):
        job = await bench.claimed()
        await bench.settle(job, to)
        await bench.pass_time(MINUTE - bench.step)
        expect(await bench.claim()).equals([], f"{to}: not before its time")
        await bench.pass_time(bench.step)
        expect(await bench.claimed_ids()).equals([job.id], f"{to}: due exactly at its time")
        await bench.store.transition(job.id, from_=Running(), to=Succeeded())


@check("transition.fence")
async def a_wrong_fence_changes_nothing(bench: Bench) -> None:
    job = await bench.claimed()

    for fence in (job.fence + 1, job.fence - 1, 0, -1, 2**70):
        if fence != job.fence:
            moved = await bench.store.transition(job.id, from_=Running(), to=Succeeded(), fence=Fence(fence))
            expect(moved).equals(False, "with a fence, applies only if the stored fence is equal")

    expect(await bench.store.transition(job.id, from_=Running(), to=Succeeded(), fence=job.fence)).equals(
        True, "the equal fence applies"
    )


@check("transition.cas", "transition.fence")
async def a_holder_that_has_settled_cannot_settle_again(bench: Bench) -> None:
    for first in TARGETS:
        job = await bench.claimed(queue=status_of(first))
        await bench.settle(job, first)

        for to in TARGETS:
            again = await bench.store.transition(job.id, from_=Running(), to=to, fence=job.fence)
            expect(again).equals(False, f"the stored state is {status_of(first)} and not running, whatever the fence")


@check("transition.times", needs=QueryableStore)
async def a_job_ends_when_it_is_ended(bench: Bench) -> None:
    for origin in (Enqueued(), Running(), Failed()):
        job = await bench.standing(origin, queue=status_of(origin))
        await bench.pass_time(bench.short)

        _, moment = await bench.timed(bench.store.transition(job, from_=origin, to=Cancelled()))

        ended = (await bench.details(job)).summary.terminal_at
        expect(ended).within(moment.start, moment.end, "`terminal_at` is the store's now at the transition")


@check("transition.fence", "claim.expired", "claim.fence")
async def a_holder_that_was_taken_over_cannot_finish(bench: Bench) -> None:
    mine = await bench.claimed(lease=bench.short)
    await bench.pass_time(bench.short)
    theirs = await bench.claim_one(worker=OTHER_WORKER)

    for to in TARGETS:
        moved = await bench.store.transition(mine.id, from_=Running(), to=to, fence=mine.fence)
        expect(moved).equals(False, "the write of a lost lease is refused")

    await bench.settle(theirs, Succeeded())


@check("transition.fence")
async def an_ended_lease_alone_refuses_nothing(bench: Bench) -> None:
    job = await bench.claimed(lease=bench.short)
    other = await bench.claimed(lease=bench.short)
    await bench.pass_time(bench.short)

    moved = await bench.store.transition(job.id, from_=Running(), to=Succeeded(), fence=job.fence)
    called_off = await bench.store.transition(other.id, from_=Running(), to=Cancelled())

    expect(moved).equals(True, "with an equal fence and the state Running the change applies")
    expect(called_off).equals(True, "states are compared as stored, and it is Running still")
    expect(await bench.claim()).equals([], "the job has ended")


@check("transition.fence", "heartbeat.held")
async def a_cancel_without_a_fence_takes_the_job_from_its_holder(bench: Bench) -> None:
    job = await bench.claimed()

    cancelled = await bench.store.transition(job.id, from_=Running(), to=Cancelled())

    expect(cancelled).equals(True, "without a fence it may leave Running too")
    expect(await bench.store.heartbeat({job.id: job.fence}, worker=WORKER, extend=HOUR)).equals(
        set[JobId](), "the holder learns it from heartbeat"
    )
    finished = await bench.store.transition(job.id, from_=Running(), to=Succeeded(), fence=job.fence)
    expect(finished).equals(False, "and cannot finish any more")


@check("transition.fence")
async def a_fence_is_compared_whatever_the_state(bench: Bench) -> None:
    job = await bench.claimed()
    await bench.settle(job, Failed(HOUR))

    wrong = await bench.store.transition(job.id, from_=Failed(), to=Enqueued(), fence=Fence(job.fence + 1))
    right = await bench.store.transition(job.id, from_=Failed(), to=Enqueued(), fence=job.fence)

    expect((wrong, right)).equals((False, True), "with a fence, applies only if the stored fence is equal")


@check("transition.once")
async def of_any_number_of_callers_one_moves_the_job(bench: Bench) -> None:
    async def finish(store: JobStore, number: int) -> bool:
        to = Succeeded() if number % 2 else DeadLettered()
        return await store.transition(job.id, from_=Running(), to=to, fence=job.fence)

    for crowd in (bench.gathered, bench.threaded):
        for _ in range(5):
            job = await bench.claimed()
            moved = await crowd(6, finish)
            expect(moved.count(True)).equals(1, "of any number of callers with the same `from_`, one gets True")


@check("transition.cas", "claim.exclusive", "transition.once")
async def a_claim_and_a_cancel_at_once_agree_on_one_end(bench: Bench) -> None:
    async def work(store: JobStore, number: int) -> tuple[int, bool]:
        if number % 2:
            return len(await bench.claim(store=store)), False
        return 0, await store.transition(job, from_=Enqueued(), to=Cancelled())

    for crowd in (bench.gathered, bench.threaded):
        job = await bench.enqueue_one()
        results = await crowd(6, work)
        claims, cancels = sum(got for got, _ in results), sum(moved for _, moved in results)
        expect((claims, cancels)).is_in([(1, 0), (0, 1)], "the job was either claimed or cancelled")
        await bench.store.transition(job, from_=Running(), to=Succeeded())
