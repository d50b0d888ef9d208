"""sweep: what goes, what stays, and how much at once."""

from datetime import timedelta

from klokka.core.ids import ScheduleId
from klokka.core.records import RetentionPolicy, SweepReport
from klokka.core.schedule_records import ScheduleSpec
from klokka.core.states import Cancelled, DeadLettered, Enqueued, Failed, Running, Scheduled, State, Succeeded
from klokka.core.worker_records import WorkerBeat
from klokka.spi.fleet import FleetStore
from klokka.spi.keys import IdempotencyStore, LeaseStore
from klokka.spi.query import QueryableStore
from klokka.spi.store import JobStore
from klokka.tck.bench import HOUR, KIND, MINUTE, WORKER, Bench
from klokka.tck.capabilities import SchedulingStore
from klokka.tck.check import check
from klokka.tck.violations import expect, present

NOTHING = SweepReport(jobs=0, keys=0, more=False)
EVERYTHING = RetentionPolicy(succeeded_for=timedelta(0), cancelled_for=timedelta(0), dead_lettered_for=timedelta(0))
ENDS: tuple[State, ...] = (Succeeded(), DeadLettered(), Cancelled())
LIVE_STATES: tuple[State, ...] = (Enqueued(), Scheduled(), Running(), Failed())


@check("sweep.retention", needs=QueryableStore, given="advance")
async def a_job_exactly_as_old_as_its_retention_stays(bench: Bench) -> None:
    policy = RetentionPolicy(succeeded_for=MINUTE, cancelled_for=2 * MINUTE, dead_lettered_for=3 * MINUTE)
    jobs = [await bench.standing(state) for state in (Succeeded(), Cancelled(), DeadLettered())]

    for job in jobs:
        passed = MINUTE if job == jobs[0] else MINUTE - bench.step
        await bench.pass_time(passed)
        expect(await bench.store.sweep(policy)).equals(NOTHING, "a job exactly as old as its retention stays")
        await bench.pass_time(bench.step)
        expect(await bench.store.sweep(policy)).equals(
            SweepReport(jobs=1, keys=0, more=False), "a job older than its retention goes"
        )
        expect(await bench.query.get_job(job)).equals(None, "each terminal state has its own retention")


@check("sweep.retention", given="advance")
async def the_age_of_a_job_counts_from_its_end(bench: Bench) -> None:
    policy = RetentionPolicy(succeeded_for=HOUR, cancelled_for=HOUR, dead_lettered_for=HOUR)
    jobs = [await bench.claimed(run_at=-5 * HOUR + await bench.store.now()) for _ in ENDS]
    await bench.pass_time(2 * HOUR)
    for job, end in zip(jobs, ENDS, strict=True):
        await bench.settle(job, end)

    expect(await bench.store.sweep(policy)).equals(NOTHING, "a job is as old as its end, whatever went before it")
    await bench.pass_time(HOUR + bench.step)
    expect((await bench.store.sweep(policy)).jobs).equals(3, "and goes when its end is older than its retention")


@check("sweep.retention", needs=QueryableStore)
async def none_keeps_for_ever_and_the_default_keeps_dead_letters(bench: Bench) -> None:
    jobs = [await bench.standing(state) for state in ENDS]
    await bench.pass_time(bench.short)
    keep = RetentionPolicy(succeeded_for=None, cancelled_for=None, dead_lettered_for=None)

    expect(await bench.store.sweep(keep)).equals(NOTHING, "None keeps for ever")
    expect(await bench.store.sweep(RetentionPolicy())).equals(NOTHING, "a day is not over")
    if bench.subject.advance is not None:
        await bench.pass_time(timedelta(hours=24))
        report = await bench.store.sweep(RetentionPolicy())
        expect(report.jobs).equals(2, "succeeded and cancelled jobs go after a day")
        jobs += [await bench.standing(state) for state in ENDS]
        await bench.pass_time(timedelta(days=4000))
        expect(await bench.store.sweep(keep)).equals(NOTHING, "None keeps for ever")
        expect(await bench.query.get_job(jobs[1])).differs(None, "dead letters stay unless the policy says otherwise")


@check("sweep.retention", needs=QueryableStore)
async def only_terminal_jobs_are_deleted(bench: Bench) -> None:
    live = [await bench.standing(state, queue=type(state).__name__.lower()) for state in LIVE_STATES]
    ended = [await bench.standing(state) for state in ENDS]
    await bench.pass_time(bench.short)
    before = [await bench.query.get_job(job) for job in live]

    report = await bench.store.sweep(EVERYTHING)

    expect(report).equals(SweepReport(jobs=3, keys=0, more=False), "terminal jobs, and nothing else")
    expect([await bench.query.get_job(job) for job in live]).equals(before, "live jobs are untouched")
    expect([await bench.query.get_job(job) for job in ended]).equals([None] * 3, "they are deleted")


@check("sweep.retention", "transition.restart")
async def a_reopened_job_survives_its_old_end(bench: Bench) -> None:
    job = await bench.standing(Succeeded())
    await bench.pass_time(bench.short)
    await bench.store.transition(job, from_=Succeeded(), to=Enqueued())

    expect(await bench.store.sweep(EVERYTHING)).equals(NOTHING, "a job that was reopened survives")
    expect(await bench.claimed_ids()).equals([job], "and runs again")


@check("sweep.retention", "transition.once")
async def a_job_reopened_during_the_sweep_either_goes_or_runs(bench: Bench) -> None:
    async def work(store: JobStore, number: int) -> int:
        if number % 2:
            return (await store.sweep(EVERYTHING)).jobs
        moved = [await store.transition(job, from_=Succeeded(), to=Enqueued()) for job in ended[number // 2 :: 2]]
        return sum(moved)

    for crowd in (bench.gathered, bench.threaded):
        await bench.enqueue_many(60)
        claimed = await bench.claim()
        for job in claimed:
            await bench.settle(job, Succeeded())
        ended = [job.id for job in claimed]
        await bench.pass_time(bench.short)

        swept_and_reopened = await crowd(4, work)

        runnable = await bench.claim()
        expect(sum(swept_and_reopened)).equals(60, "each job was swept or reopened, and never both")
        expect(len(runnable)).equals(swept_and_reopened[0] + swept_and_reopened[2], "what was reopened survives")
        for job in runnable:
            await bench.settle(job, DeadLettered())
        await bench.pass_time(bench.short)
        await bench.store.sweep(EVERYTHING)


@check("sweep.retention", "key.once", needs=IdempotencyStore, given="advance")
async def idempotency_records_go_at_their_ttl(bench: Bench) -> None:
    await bench.keys.claim_key("scope", "short", MINUTE)
    await bench.keys.claim_key("scope", "long", HOUR)

    await bench.pass_time(MINUTE - bench.step)
    expect(await bench.store.sweep(EVERYTHING)).equals(NOTHING, "a record within its ttl stays")
    await bench.pass_time(bench.step + bench.step)
    expect(await bench.store.sweep(EVERYTHING)).equals(
        SweepReport(jobs=0, keys=1, more=False), "records past their ttl are deleted"
    )
    expect(await bench.keys.claim_key("scope", "long", HOUR)).equals(None, "and no others")


@check("sweep.bounded")
async def a_limit_of_zero_deletes_nothing(bench: Bench) -> None:
    await bench.standing(Succeeded())
    await bench.pass_time(bench.short)

    report = await bench.store.sweep(EVERYTHING, limit=0)

    expect((report.jobs, report.keys, report.more)).equals((0, 0, True), "at most `limit` rows, and more is left")
    expect((await bench.store.sweep(EVERYTHING)).jobs).equals(1, "and it was left")


@check("sweep.retention", "lease.cursor", needs=LeaseStore)
async def cursors_stay(bench: Bench) -> None:
    fence = present(await bench.leases.acquire_lease("ticker", "me", HOUR), "a free lease is given")
    at = bench.cut(await bench.store.now())
    await bench.leases.advance_cursor("ticks", at, lease="ticker", fence=fence)

    await bench.store.sweep(EVERYTHING)

    expect(await bench.leases.read_cursor("ticks")).equals(at, "terminal jobs and records past their ttl, nothing else")


@check("sweep.retention", "schedule.upsert-keeps", needs=(QueryableStore, SchedulingStore))
async def schedules_stay_dormant_or_not(bench: Bench) -> None:
    for id_, at in (("dormant", None), ("due", await bench.store.now())):
        spec = ScheduleSpec(id=ScheduleId(id_), kind=KIND, fingerprint="v1", description="", fire_at=at)
        await bench.store.upsert_schedules([spec])
    before = await bench.query.list_schedules()

    await bench.store.sweep(EVERYTHING)

    expect(await bench.query.list_schedules()).equals(before, "terminal jobs and records past their ttl, nothing else")


@check("sweep.retention", "lease.one", needs=LeaseStore)
async def lease_rows_stay_since_their_fence_must_not_restart(bench: Bench) -> None:
    first = present(await bench.leases.acquire_lease("ticker", "me", bench.short), "a free lease is given")
    await bench.pass_time(2 * bench.short)
    await bench.store.sweep(EVERYTHING)

    second = present(await bench.leases.acquire_lease("ticker", "me", HOUR), "a lease that ended is given")

    expect(second).above(first, "any acquisition after the end gets a higher fence, a sweep between or not")


@check("sweep.retention", "fleet.pause", "fleet.beat", needs=FleetStore)
async def pauses_and_silent_workers_stay(bench: Bench) -> None:
    await bench.fleet.pause_queue("empty", "a reason")
    beat = WorkerBeat(id=WORKER, host="h", pid=1, version="1", queues=(), kinds=(), slots=1)
    await bench.fleet.beat(beat, live_for=bench.short)
    await bench.pass_time(bench.short)

    await bench.store.sweep(EVERYTHING)

    expect(dict(await bench.fleet.paused_queues())).equals({"empty": "a reason"}, "nothing else is deleted")
    expect([row.beat.id for row in await bench.fleet.workers()]).equals([WORKER], "nothing else is deleted")


@check("sweep.bounded")
async def one_call_is_one_bounded_step(bench: Bench) -> None:
    await bench.enqueue_many(25)
    for job in await bench.claim():
        await bench.settle(job, Succeeded())
    await bench.pass_time(bench.short)

    reports = [await bench.store.sweep(EVERYTHING, limit=10) for _ in range(4)]

    expect([(report.jobs, report.more) for report in reports]).equals(
        [(10, True), (10, True), (5, False), (0, False)], "at most `limit` rows, and it reports whether more is left"
    )


@check("sweep.bounded")
async def a_step_that_takes_all_there_is_says_that_no_more_is_left(bench: Bench) -> None:
    await bench.enqueue_many(10)
    for job in await bench.claim():
        await bench.settle(job, Succeeded())
    await bench.pass_time(bench.short)

    report = await bench.store.sweep(EVERYTHING, limit=10)

    expect(report.jobs).equals(10, "at most `limit` rows of each sort")
    following = await bench.store.sweep(EVERYTHING, limit=10)
    expect(following).equals(NOTHING, "`more` ends")


@check("sweep.bounded", needs=IdempotencyStore)
async def the_bound_is_for_each_sort_of_row(bench: Bench) -> None:
    await bench.enqueue_many(3)
    for job in await bench.claim():
        await bench.settle(job, Succeeded())
    for number in range(5):
        await bench.keys.claim_key("scope", str(number), bench.short)
    await bench.pass_time(2 * bench.short)

    reports = [await bench.store.sweep(EVERYTHING, limit=3) for _ in range(2)]

    expect([(report.jobs, report.keys) for report in reports]).equals(
        [(3, 3), (0, 2)], "at most `limit` rows of each sort"
    )
    expect(reports[0].more).equals(True, "and it reports whether more is left")


@check("sweep.bounded", "life.deadlock")
async def sweeps_at_once_delete_each_row_once(bench: Bench) -> None:
    async def sweep(store: JobStore, number: int) -> int:
        return sum([(await store.sweep(EVERYTHING, limit=3 + number)).jobs for _ in range(10)])

    for crowd in (bench.gathered, bench.threaded):
        await bench.enqueue_many(60)
        for job in await bench.claim():
            await bench.settle(job, Succeeded())
        await bench.pass_time(bench.short)

        swept = await crowd(4, sweep)

        expect(sum(swept)).equals(60, "safe to run twice at once, and each row is reported once")
