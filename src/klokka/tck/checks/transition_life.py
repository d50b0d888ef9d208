"""transition: errors, refunds, restarts and reopening."""

from datetime import UTC, datetime, timedelta

from klokka.core.error_text import MESSAGE_BYTES, TRACEBACK_BYTES, TYPE_BYTES
from klokka.core.ids import Fence
from klokka.core.records import EnqueueResult, JobError
from klokka.core.states import (
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
from klokka.errors import InvalidInput, UniqueConflict
from klokka.spi.query import QueryableStore
from klokka.tck.bench import HOUR, QUEUE, Bench
from klokka.tck.check import check
from klokka.tck.violations import expect, expect_refusal, present

ENDS: tuple[State, ...] = (Succeeded(), DeadLettered(), Cancelled())
STARTS: tuple[State, ...] = (Enqueued(), Scheduled(HOUR), Failed(HOUR))


@check("transition.error", needs=QueryableStore)
async def an_error_is_kept_until_there_is_another(bench: Bench) -> None:
    job = await bench.claimed()
    first = JobError(type="ValueError", message="no “good”\n", traceback="Traceback…", attempt=9, at=_at(1))
    await bench.settle(job, Failed(timedelta(0)), error=first)
    expect((await bench.details(job.id)).last_error).equals(first, "`error` is kept and shown as `last_error`")

    job = await bench.claim_one()
    expect((await bench.details(job.id)).last_error).equals(first, "a claim keeps the last one")
    await bench.settle(job, Failed(timedelta(0)))
    expect((await bench.details(job.id)).last_error).equals(first, "none given keeps the last one")

    job = await bench.claim_one()
    second = JobError(type="E", message="", traceback="", attempt=1, at=_at(2))
    await bench.settle(job, DeadLettered(), error=second)
    expect((await bench.details(job.id)).last_error).equals(second, "a later error takes its place")


@check("transition.error", "transition.cas", needs=QueryableStore)
async def the_error_of_a_refused_change_is_not_kept(bench: Bench) -> None:
    job = await bench.claimed()
    error = JobError(type="E", message="of a worker that lost its lease")

    for from_, fence in ((Running(), job.fence + 1), (Enqueued(), job.fence)):
        await bench.store.transition(job.id, from_=from_, to=DeadLettered(), fence=Fence(fence), error=error)

    expect((await bench.details(job.id)).last_error).equals(None, "otherwise False, and nothing changed")


@check("transition.error", "time.store-clock", needs=QueryableStore)
async def the_store_fills_in_the_attempt_and_the_time_of_an_error(bench: Bench) -> None:
    job = await bench.claimed()
    await bench.settle(job, Failed(timedelta(0)))
    job = await bench.claim_one()

    _, moment = await bench.timed(bench.settle(job, Failed(HOUR), error=JobError(type="E", message="m")))

    error = present((await bench.details(job.id)).last_error, "`error` is kept")
    expect(error.attempt).equals(2, "the store fills in the row's attempt")
    expect(error.at).within(moment.start, moment.end, "the store fills in its own now")


@check("transition.error", needs=QueryableStore)
async def no_text_keeps_a_job_from_being_failed(bench: Bench) -> None:
    texts = (
        "\0",
        "a\0b\ud800c\udfff",
        "x" * 3_000_000,
        "👩‍👩‍👧" * 300_000,
        "\ud800" * 1_000_000,
        "'; drop table jobs; --",
    )

    for text in texts:
        job = await bench.claimed()
        await bench.settle(job, DeadLettered(), error=JobError(type=text, message=text, traceback=text))

        details = await bench.details(job.id)
        expect(details.summary.status).equals(JobStatus.DEAD_LETTERED, "storing a failure never fails for its text")
        error = present(details.last_error, "and the error is kept")
        kept = error.type + error.message + error.traceback
        expect("\0" in kept or any("\ud800" <= letter <= "\udfff" for letter in kept)).equals(
            False, "NUL and surrogates are replaced"
        )
        expect(len(error.message)).within(1, 1_000_000, "long text is cut")
        if len(text) > 1_000_000:
            expect(error.message).differs(text[: len(error.message)], "a cut has a mark")


@check("transition.error", needs=QueryableStore)
async def what_is_no_longer_than_stated_is_kept_whole(bench: Bench) -> None:
    long = JobError(type="T" * TYPE_BYTES, message="é" * (MESSAGE_BYTES // 2), traceback="\n" * TRACEBACK_BYTES)
    short = JobError(type="T", message="")
    job = await bench.claimed()

    for error in (long, short):
        await bench.settle(job, Failed(timedelta(0)), error=error)
        kept = present((await bench.details(job.id)).last_error, "the error is kept")
        expect((kept.type, kept.message, kept.traceback)).equals(
            (error.type, error.message, error.traceback), "all of it is kept, and nothing of the one before"
        )
        job = await bench.claim_one()


@check("transition.refund", needs=QueryableStore)
async def a_refund_takes_one_from_the_attempt_and_nothing_from_the_fence(bench: Bench) -> None:
    job = await bench.claimed()
    for to in (Enqueued(), Scheduled(timedelta(0)), Failed(timedelta(0))):
        await bench.settle(job, to, refund=True)
        details = await bench.details(job.id)
        expect((details.summary.attempt, details.fence)).equals((0, job.fence), "from `attempt`, never from the fence")
        again = await bench.claim_one()
        expect(again.attempt).equals(1, "work handed back costs no attempt")
        expect(again.fence).above(job.fence, "each claim carries a greater fence, after a refund too")
        job = again


@check("transition.refund", "claim.lapses")
async def a_refund_takes_back_no_lapse(bench: Bench) -> None:
    await bench.claimed(lease=bench.short)
    await bench.pass_time(bench.short)
    job = await bench.claim_one()

    await bench.settle(job, Enqueued(), refund=True)

    again = await bench.claim_one()
    expect((again.attempt, again.lapses)).equals((2, 1), "a refund is of the attempt alone")


@check("transition.refund")
async def a_refund_needs_running_and_a_fence(bench: Bench) -> None:
    job = await bench.claimed()
    waiting = await bench.enqueue_one(queue="elsewhere")

    with expect_refusal(InvalidInput, "a refund is legal only with a fence"):
        await bench.store.transition(job.id, from_=Running(), to=Enqueued(), refund=True)
    with expect_refusal(InvalidInput, "a refund is legal only from Running"):
        await bench.store.transition(waiting, from_=Enqueued(), to=Scheduled(HOUR), fence=Fence(0), refund=True)

    await bench.settle(job, Enqueued())
    expect((await bench.claim_one()).attempt).equals(2, "nothing was changed by what was refused")
    expect(await bench.claimed_ids(queues=["elsewhere"])).equals([waiting], "nothing was changed by what was refused")


@check("transition.refund", needs=QueryableStore)
async def a_refund_under_a_lost_fence_changes_nothing(bench: Bench) -> None:
    mine = await bench.claimed(lease=bench.short)
    await bench.pass_time(bench.short)
    await bench.claim_one()
    before = await bench.details(mine.id)

    moved = await bench.store.transition(mine.id, from_=Running(), to=Enqueued(), fence=mine.fence, refund=True)

    expect(moved).equals(False, "with a fence, applies only if the stored fence is equal")
    expect(await bench.details(mine.id)).equals(before, "nothing changed")


@check("transition.restart", "claim.attempt", needs=QueryableStore)
async def a_job_that_starts_again_begins_its_count_anew(bench: Bench) -> None:
    for end in ENDS:
        for start in STARTS:
            await bench.claimed(lease=bench.short, unique_key="k")
            await bench.pass_time(bench.short)
            job = await bench.claim_one()
            await bench.settle(job, end, error=JobError(type="E", message="m"))
            before = await bench.details(job.id)

            moved = await bench.store.transition(job.id, from_=end, to=start)

            after = await bench.details(job.id)
            expect(moved).equals(True, f"{start} may follow {end}")
            expect((before.summary.attempt, before.lapses)).equals((2, 1), "an end keeps the counts")
            expect((after.summary.attempt, after.lapses, after.summary.terminal_at)).equals(
                (0, 0, None), "leaving a terminal state sets the counts to 0 and clears `terminal_at`"
            )
            expect((after.fence, after.summary.enqueued_at, after.scheduled_for, after.last_error)).equals(
                (before.fence, before.summary.enqueued_at, before.scheduled_for, before.last_error),
                "fence, `enqueued_at`, `scheduled_for` and `last_error` stay",
            )
            await bench.store.transition(job.id, from_=start if isinstance(start, Enqueued) else type(start)(), to=end)


@check("transition.restart", needs=QueryableStore)
async def moves_that_leave_no_terminal_state_keep_the_counts(bench: Bench) -> None:
    job = await bench.claimed()

    await bench.settle(job, Failed(HOUR))
    await bench.store.transition(job.id, from_=Failed(), to=Enqueued())
    await bench.store.transition(job.id, from_=Enqueued(), to=Succeeded())
    await bench.store.transition(job.id, from_=Succeeded(), to=DeadLettered())

    expect((await bench.details(job.id)).summary.attempt).equals(1, "only leaving a terminal state counts anew")


@check("transition.reopen", "enqueue.unique-life", needs=QueryableStore)
async def a_job_whose_key_another_holds_cannot_start_again(bench: Bench) -> None:
    for end in ENDS:
        old = await bench.standing(end, unique_key="k")
        holder = await bench.enqueue_one(unique_key="k", run_at=HOUR)
        before = await bench.details(old), await bench.details(holder)

        for start in STARTS:
            with expect_refusal(UniqueConflict, "leaving a terminal state while another holds the key") as refusal:
                await bench.store.transition(old, from_=end, to=start)
            expect(refusal.error.holder).equals(holder, "the error has the holder's id")

        expect((await bench.details(old), await bench.details(holder))).equals(before, "nothing was changed")
        await bench.store.transition(holder, from_=Scheduled(), to=Cancelled())
        moved = await bench.store.transition(old, from_=end, to=Scheduled(HOUR))
        expect(moved).equals(True, "when the holder has ended, the key is free")
        await bench.store.transition(old, from_=Scheduled(), to=end)


@check("transition.reopen", "transition.cas")
async def a_stale_reopening_is_false_and_no_conflict(bench: Bench) -> None:
    old = await bench.standing(Succeeded(), unique_key="k")
    await bench.enqueue_one(unique_key="k", run_at=HOUR)

    moved = await bench.store.transition(old, from_=Cancelled(), to=Enqueued())

    expect(moved).equals(False, "applies only if the stored state is `from_`")


@check("transition.reopen", "enqueue.unique-life")
async def a_job_never_conflicts_with_its_own_key(bench: Bench) -> None:
    job = await bench.claimed(unique_key="k")
    await bench.settle(job, Failed(timedelta(0)))
    await bench.settle(await bench.claim_one(), DeadLettered())

    moved = await bench.store.transition(job.id, from_=DeadLettered(), to=Enqueued())

    expect(moved).equals(True, "a retry or requeue meets its own key without conflict")
    (result,) = await bench.store.enqueue([bench.new(unique_key="k", queue=QUEUE)])
    expect(result).equals(EnqueueResult(id=job.id, created=False), "and holds it again")


@check("transition.reopen")
async def ends_may_follow_ends_though_another_holds_the_key(bench: Bench) -> None:
    old = await bench.standing(Succeeded(), unique_key="k")
    holder = await bench.enqueue_one(unique_key="k")

    moved = await bench.store.transition(old, from_=Succeeded(), to=Cancelled())

    expect(moved).equals(True, "a job that stays terminal needs no key")
    (result,) = await bench.store.enqueue([bench.new(unique_key="k")])
    expect(result).equals(EnqueueResult(id=holder, created=False), "the holder still holds it")


def _at(hour: int) -> datetime:
    return datetime(2026, 1, 1, hour, tzinfo=UTC)
