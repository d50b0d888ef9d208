"""Verbs for people: from whatever state a job or schedule is in."""

from datetime import datetime, timedelta

from klokka.core.ids import MAX_ID, JobId, ScheduleId
from klokka.core.records import EnqueueResult, JobError
from klokka.core.schedule_records import ScheduleFire, ScheduleSpec
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
from klokka.errors import UniqueConflict
from klokka.spi.operate import OperableStore
from klokka.spi.query import QueryableStore
from klokka.spi.store import JobStore
from klokka.tck.bench import HOUR, KIND, SECOND, WORKER, Bench
from klokka.tck.check import check
from klokka.tck.violations import expect, expect_refusal, present

STATES: tuple[State, ...] = (
    Scheduled(),
    Enqueued(),
    Running(),
    Succeeded(),
    Failed(),
    DeadLettered(),
    Cancelled(),
)
ENDS: tuple[State, ...] = (Succeeded(), DeadLettered(), Cancelled())
S = ScheduleId("nightly")
BOTH = (OperableStore, QueryableStore)
NO_FIRES: list[ScheduleFire] = []


@check("operate.cancel", "transition.times", needs=BOTH)
async def cancel_ends_a_job_from_any_state_that_is_not_terminal(bench: Bench) -> None:
    for state in STATES:
        job = await bench.standing(state, queue=status_of(state), unique_key=status_of(state))
        before = await bench.details(job)
        bench.let_go_on()

        cancelled, moment = await bench.timed(bench.operate.cancel(job))

        after = await bench.details(job)
        if status_of(state) in TERMINAL:
            expect(cancelled).equals(False, "a terminal job is not cancelled")
            expect(after).equals(before, "and nothing is changed")
            continue
        expect(cancelled).equals(True, f"a job in {state} is cancelled")
        expect((after.summary.status, after.lease_until, after.holder, after.summary.retry_at)).equals(
            (JobStatus.CANCELLED, None, None, None), "the job is cancelled with all that belongs to it"
        )
        expect(after.summary.terminal_at).within(moment.start, moment.end, "`terminal_at` is the store's now")
        (again,) = await bench.store.enqueue([bench.new(unique_key=status_of(state), run_at=HOUR)])
        expect(again.created).equals(True, "its key is free")


@check("operate.cancel", "heartbeat.held", needs=OperableStore)
async def a_cancelled_running_job_is_lost_to_its_holder(bench: Bench) -> None:
    job = await bench.claimed()

    await bench.operate.cancel(job.id)

    held = await bench.store.heartbeat({job.id: job.fence}, worker=WORKER, extend=HOUR)
    expect(held).equals(set[JobId](), "the holder learns it from heartbeat")
    finished = await bench.store.transition(job.id, from_=Running(), to=Succeeded(), fence=job.fence)
    expect(finished).equals(False, "and cannot finish any more")


@check("operate.requeue", "transition.restart", needs=BOTH)
async def requeue_makes_a_terminal_job_due_now(bench: Bench) -> None:
    for state in STATES:
        job = await bench.standing(state, queue=status_of(state), unique_key=status_of(state))
        before = await bench.details(job)
        bench.let_go_on()

        requeued, moment = await bench.timed(bench.operate.requeue(job))

        after = await bench.details(job)
        if status_of(state) not in TERMINAL:
            expect(requeued).equals(False, "a job that is not terminal is not requeued")
            expect(after).equals(before, "and nothing is changed")
            continue
        expect(requeued).equals(True, f"a job in {state} is requeued")
        expect((after.summary.status, after.summary.attempt, after.lapses, after.summary.terminal_at)).equals(
            (JobStatus.ENQUEUED, 0, 0, None), "by the rules of restart"
        )
        expect(after.summary.run_at).within(moment.start, moment.end, "due now")
        expect((after.fence, after.scheduled_for, after.last_error)).equals(
            (before.fence, before.scheduled_for, before.last_error), "by the rules of restart"
        )
        (again,) = await bench.store.enqueue([bench.new(unique_key=status_of(state))])
        expect(again).equals(EnqueueResult(id=job, created=False), "it holds its key again")
        claimed = await bench.claim_one(queues=[status_of(state)])
        expect((claimed.id, claimed.attempt)).equals((job, 1), "and is claimable at once")
        expect(claimed.fence).above(before.fence, "under a greater fence")


@check("operate.cancel", "operate.requeue", "transition.error", "transition.restart", needs=BOTH)
async def what_people_do_keeps_the_last_error(bench: Bench) -> None:
    job = await bench.claimed()
    await bench.settle(job, Failed(HOUR), error=JobError(type="E", message="first"))
    failed = await bench.details(job.id)

    for act in (bench.operate.cancel, bench.operate.requeue, bench.operate.cancel):
        expect(await act(job.id)).equals(True, "it is applied")
        after = await bench.details(job.id)
        expect((after.last_error, after.fence, after.scheduled_for)).equals(
            (failed.last_error, failed.fence, failed.scheduled_for), "the last error stays, and so do fence and plan"
        )


@check("claim.fence", "operate.requeue", needs=OperableStore)
async def a_requeued_job_is_claimed_under_a_greater_fence(bench: Bench) -> None:
    for end in ENDS:
        job = await bench.claimed(queue=status_of(end))
        await bench.settle(job, end)
        await bench.operate.requeue(job.id)

        again = await bench.claim_one(queues=[status_of(end)])

        expect(again.fence).above(
            job.fence, "each claim carries a fence greater than every earlier one, across requeue"
        )


@check("operate.requeue", "transition.reopen", needs=BOTH)
async def requeue_of_a_job_whose_key_is_held_changes_nothing(bench: Bench) -> None:
    for end in ENDS:
        old = await bench.standing(end, unique_key="k")
        holder = await bench.enqueue_one(unique_key="k", run_at=HOUR)
        before = await bench.details(old), await bench.details(holder)

        with expect_refusal(UniqueConflict, "by the rules of reopen") as refusal:
            await bench.operate.requeue(old)

        expect(refusal.error.holder).equals(holder, "the error has the holder's id")
        expect((await bench.details(old), await bench.details(holder))).equals(before, "nothing was changed")
        await bench.operate.delete(holder)


@check("operate.delete", needs=BOTH)
async def delete_removes_a_job_whatever_its_state(bench: Bench) -> None:
    for state in STATES:
        job = await bench.standing(state, queue=status_of(state), unique_key=status_of(state))
        bystander = await bench.enqueue_one(queue="bystander")
        before = await bench.details(bystander)

        expect(await bench.operate.delete(job)).equals(True, f"a job in {state} is deleted")

        expect(await bench.query.get_job(job)).equals(None, "it is removed")
        expect(await bench.operate.delete(job)).equals(False, "it says whether it was there")
        (again,) = await bench.store.enqueue([bench.new(unique_key=status_of(state), run_at=HOUR)])
        expect(again.created).equals(True, "its key is free")
        expect(await bench.claim(queues=[status_of(state)])).equals([], "and it is claimed no more")
        expect(await bench.details(bystander)).equals(before, "nothing else is touched")


@check("operate.delete", "heartbeat.held", needs=OperableStore)
async def a_deleted_running_job_is_lost_to_its_holder(bench: Bench) -> None:
    job = await bench.claimed()

    await bench.operate.delete(job.id)

    held = await bench.store.heartbeat({job.id: job.fence}, worker=WORKER, extend=HOUR)
    expect(held).equals(set[JobId](), "a running one is lost to its holder")
    finished = await bench.store.transition(job.id, from_=Running(), to=Succeeded(), fence=job.fence)
    expect(finished).equals(False, "and cannot be finished")


@check("operate.cancel", "operate.requeue", "operate.delete", "life.arguments", needs=OperableStore)
async def unknown_jobs_are_no_error_for_people(bench: Bench) -> None:
    known = await bench.enqueue_one()

    for number in (0, -1, known + 1000, MAX_ID, MAX_ID + 1, 2**70):
        job = JobId(number)
        answers = (
            await bench.operate.cancel(job),
            await bench.operate.requeue(job),
            await bench.operate.delete(job),
        )
        expect(answers).equals((False, False, False), "an id that this store cannot have issued is unknown")

    expect(await bench.claimed_ids()).equals([known], "nothing was changed")


@check("operate.cancel", "claim.exclusive", "life.deadlock", needs=OperableStore)
async def of_people_who_cancel_at_once_one_does(bench: Bench) -> None:
    async def cancel(store: JobStore, number: int) -> list[bool]:
        operator = present(store if isinstance(store, OperableStore) else None, "every handle has the capability")
        return [await operator.cancel(job) for job in (jobs if number % 2 else jobs[::-1])]

    for crowd in (bench.gathered, bench.threaded):
        jobs = await bench.enqueue_many(20)

        answers = await crowd(4, cancel)

        expect(sum(sum(of_one) for of_one in answers)).equals(20, "each job was cancelled by one of them")
        expect(await bench.claim()).equals([], "and none is claimable")


async def _due(bench: Bench) -> list[ScheduleFire]:
    return await bench.store.due_schedules(ids=[S], limit=9, lease=HOUR, worker=WORKER)


async def _define(bench: Bench, fingerprint: str = "v1") -> datetime:
    """Registers a schedule that is due, and returns its time."""
    at = bench.cut(await bench.store.now()) - SECOND
    spec = ScheduleSpec(id=S, kind=KIND, fingerprint=fingerprint, description=fingerprint, fire_at=at)
    await bench.store.upsert_schedules([spec])
    return at


@check("operate.schedule", "schedule.due", needs=OperableStore)
async def a_paused_schedule_is_not_due_until_it_resumes_at_the_time_given(bench: Bench) -> None:
    await _define(bench)
    at = bench.cut(await bench.store.now()) - timedelta(minutes=5)

    expect(await bench.operate.pause_schedule(S, "maintenance")).equals(True, "it says whether the schedule is known")
    expect(await _due(bench)).equals(NO_FIRES, "a paused schedule is not due")
    expect(await bench.operate.resume_schedule(S, at)).equals(True, "it was paused")
    expect([fire.scheduled_for for fire in await _due(bench)]).equals([at], "it resumes at the time given")


@check("operate.schedule", "schedule.upsert-keeps", "schedule.upsert-changed", needs=OperableStore)
async def a_pause_stays_through_upserts(bench: Bench) -> None:
    await _define(bench)
    await bench.operate.pause_schedule(S, "maintenance")

    await _define(bench)
    expect(await _due(bench)).equals(NO_FIRES, "an equal definition ends no pause")
    await _define(bench, "v2")
    expect(await _due(bench)).equals(NO_FIRES, "a changed definition is taken over, and the pause stays")

    await bench.operate.resume_schedule(S, await bench.store.now())
    expect([fire.fingerprint for fire in await _due(bench)]).equals(["v2"], "the changed definition was taken over")


@check("operate.schedule", "query.schedules", needs=BOTH)
async def a_pause_is_shown_with_its_latest_reason(bench: Bench) -> None:
    await _define(bench)
    before = (await bench.query.list_schedules())[0].fence

    for reason in ("maintenance", "still “broken”\n"):
        await bench.operate.pause_schedule(S, reason)
        row = (await bench.query.list_schedules())[0]
        expect(row.paused).equals(reason, "the reason of the pause")
        expect(row.fence).above(before, "pausing bumps the fence")
        before = row.fence

    await bench.operate.resume_schedule(S, None)
    row = (await bench.query.list_schedules())[0]
    expect((row.paused, row.next_fire_at)).equals((None, None), "it resumes at the time given, and None is dormant")
    expect(row.fence).above(before, "resuming bumps the fence")


@check("operate.schedule", "schedule.fence", needs=OperableStore)
async def pausing_and_resuming_withdraw_a_fire_in_flight(bench: Bench) -> None:
    at = await _define(bench)
    (fire,) = await _due(bench)
    await bench.operate.pause_schedule(S, "stop")

    done = await bench.store.complete_fire(S, fence=fire.fence, runs=[bench.new()], next_fire_at=None)
    expect(done).equals(None, "pausing withdraws a fire in flight")
    await bench.operate.resume_schedule(S, at)
    done = await bench.store.complete_fire(S, fence=fire.fence, runs=[bench.new()], next_fire_at=None)
    expect(done).equals(None, "and it stays withdrawn")
    expect(await bench.claim()).equals([], "no run was stored")
    (again,) = await _due(bench)
    expect(again.fence).above(fire.fence + 1, "the lease was cleared and the fence bumped")


@check("operate.schedule", needs=OperableStore)
async def a_pause_of_a_schedule_without_a_reason_is_a_pause(bench: Bench) -> None:
    at = await _define(bench)

    expect(await bench.operate.pause_schedule(S, "")).equals(True, "it is paused")

    expect(await _due(bench)).equals(NO_FIRES, "a paused schedule is not due, whatever the reason")
    expect(await bench.operate.resume_schedule(S, at)).equals(True, "it was paused")


@check("operate.schedule", needs=OperableStore)
async def unknown_and_unpaused_schedules_answer_false(bench: Bench) -> None:
    at = await _define(bench)

    expect(await bench.operate.pause_schedule(ScheduleId("unknown"), "r")).equals(False, "an unknown schedule")
    expect(await bench.operate.resume_schedule(ScheduleId("unknown"), at)).equals(False, "an unknown schedule")
    expect(await bench.operate.resume_schedule(S, at - HOUR)).equals(False, "a schedule that is not paused")

    expect([fire.scheduled_for for fire in await _due(bench)]).equals([at], "and nothing was changed")
