"""Time: whose clock, which zone, how fine, and what if it steps back."""

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

from klokka.core.ids import Fence, ScheduleId
from klokka.core.records import JobError, JobQuery
from klokka.core.schedule_records import ScheduleSpec
from klokka.core.states import Enqueued, Failed, Running, Scheduled, State, Succeeded
from klokka.core.worker_records import WorkerBeat
from klokka.errors import InvalidInput, InvalidTime
from klokka.spi.fleet import FleetStore
from klokka.spi.keys import LeaseStore
from klokka.spi.operate import OperableStore
from klokka.spi.query import QueryableStore
from klokka.tck.bench import HOUR, KIND, MINUTE, OTHER_WORKER, QUEUE, SECOND, WORKER, Bench
from klokka.tck.check import check
from klokka.tck.violations import expect, expect_refusal, present

NAIVE = datetime(2026, 1, 1)  # noqa: DTZ001 - naive on purpose
S = ScheduleId("nightly")


@check("time.store-clock", given="advance")
async def the_clock_of_the_store_decides(bench: Bench) -> None:
    other = await bench.handle()
    start = await bench.store.now()

    await bench.pass_time(HOUR)

    expect(await bench.store.now()).equals(start + HOUR, "an embedded store's clock is read behind one seam")
    expect(await other.now()).equals(start + HOUR, "and all handles on the data have the same one")


@check("time.store-clock", "time.aware")
async def the_present_is_aware_and_goes_on(bench: Bench) -> None:
    before = await bench.store.now()
    after = await bench.store.now()

    expect(before.utcoffset()).equals(timedelta(0), "every instant that comes back is aware and in UTC")
    expect(after).within(before, before + HOUR, "the clock goes on")


@check("time.aware", "enqueue.atomic")
async def naive_instants_are_refused_before_any_write(bench: Bench) -> None:
    job = await bench.claimed()
    why = "naive datetimes are refused before any write"

    with expect_refusal(InvalidTime, why):
        await bench.store.enqueue([bench.new(), bench.new(run_at=NAIVE)])
    for to in (Failed(NAIVE), Scheduled(NAIVE)):
        with expect_refusal(InvalidTime, why):
            await bench.store.transition(job.id, from_=Running(), to=to, fence=job.fence)
    for from_ in (Failed(NAIVE), Scheduled(NAIVE)):
        with expect_refusal(InvalidTime, why):
            await bench.store.transition(job.id, from_=from_, to=Enqueued())
    with expect_refusal(InvalidTime, why):
        error = JobError(type="E", message="m", at=NAIVE)
        await bench.store.transition(job.id, from_=Running(), to=Succeeded(), fence=job.fence, error=error)
    with expect_refusal(InvalidTime, why):
        spec = ScheduleSpec(id=S, kind=KIND, fingerprint="v1", description="", fire_at=NAIVE)
        await bench.store.upsert_schedules([spec])
    with expect_refusal(InvalidTime, why):
        await bench.store.complete_fire(S, fence=Fence(1), runs=[], next_fire_at=NAIVE)

    expect(await bench.claim()).equals([], "nothing was written")
    expect(await bench.store.due_schedules(ids=[S], limit=9, lease=HOUR, worker=WORKER)).equals(
        [], "nothing was written"
    )
    await bench.settle(job, Succeeded())


@check("time.aware", needs=LeaseStore)
async def a_naive_cursor_is_refused(bench: Bench) -> None:
    fence = present(await bench.leases.acquire_lease("l", "me", HOUR), "a free lease is given")

    with expect_refusal(InvalidTime, "naive datetimes are refused before any write"):
        await bench.leases.advance_cursor("c", NAIVE, lease="l", fence=fence)

    expect(await bench.leases.read_cursor("c")).equals(None, "nothing was written")


@check("time.aware", needs=OperableStore)
async def a_naive_resumption_is_refused(bench: Bench) -> None:
    with expect_refusal(InvalidTime, "naive datetimes are refused before any write"):
        await bench.operate.resume_schedule(S, NAIVE)


@check("time.aware", "time.resolution", needs=QueryableStore)
async def instants_of_any_zone_come_back_in_utc(bench: Bench) -> None:
    zones = (
        timezone(timedelta(hours=14)),
        timezone(timedelta(hours=-11, minutes=-30)),
        timezone(timedelta(seconds=12345)),
        ZoneInfo("America/New_York"),
    )
    for zone in zones:
        at = datetime(2026, 11, 1, 1, 30, fold=1, tzinfo=zone)
        job = await bench.enqueue_one(run_at=at)

        details = await bench.details(job)

        for seen in (details.summary.run_at, details.scheduled_for):
            expect(seen).equals(at.astimezone(UTC), "the same instant, whatever its zone")
            expect(seen.utcoffset()).equals(timedelta(0), "every instant that comes back is aware and in UTC")


@check("time.aware", "claim.lease", needs=QueryableStore)
async def every_instant_that_comes_back_is_in_utc(bench: Bench) -> None:
    spec = ScheduleSpec(id=S, kind=KIND, fingerprint="v1", description="", fire_at=await bench.store.now())
    await bench.store.upsert_schedules([spec])
    (fire,) = await bench.store.due_schedules(ids=[S], limit=1, lease=HOUR, worker=WORKER)
    job = await bench.claimed()
    await bench.settle(job, Failed(HOUR), error=JobError(type="E", message=""))
    failed = await bench.details(job.id)
    running = await bench.details((await bench.claimed()).id)
    ended = await bench.details(await bench.standing(Succeeded()))
    row = (await bench.query.list_schedules())[0]
    error = present(failed.last_error, "`error` is kept")

    instants = (
        job.enqueued_at,
        job.scheduled_for,
        job.lease_until,
        failed.summary.retry_at,
        error.at,
        running.lease_until,
        ended.summary.terminal_at,
        ended.summary.enqueued_at,
        fire.now,
        fire.scheduled_for,
        row.next_fire_at,
        row.lease_until,
        await bench.store.next_due(queues=[QUEUE], kinds=[KIND]),
    )

    for seen in instants:
        known = present(seen, "this instant is set")
        expect(known.utcoffset()).equals(timedelta(0), "every instant that comes back is aware and in UTC")


@check("time.aware", needs=QueryableStore)
async def every_instant_of_lists_is_in_utc(bench: Bench) -> None:
    await bench.enqueue_one()
    await bench.standing(Succeeded(), queue="ended")
    await bench.standing(Failed(HOUR), queue="failed")

    listed = await bench.query.list_jobs(JobQuery())
    depths = await bench.query.queue_depths()

    seen = [at for job in listed for at in (job.run_at, job.enqueued_at, job.retry_at, job.terminal_at)]
    for at in (*seen, *(depth.oldest_due for depth in depths)):
        if at is not None:
            expect(at.utcoffset()).equals(timedelta(0), "every instant that comes back is aware and in UTC")


@check("time.aware", needs=LeaseStore)
async def the_instant_of_a_cursor_is_in_utc(bench: Bench) -> None:
    fence = present(await bench.leases.acquire_lease("ticker", "me", HOUR), "a free lease is given")
    at = datetime(2026, 11, 1, 1, 30, fold=1, tzinfo=ZoneInfo("America/New_York"))
    await bench.leases.advance_cursor("ticks", at, lease="ticker", fence=fence)

    seen = present(await bench.leases.read_cursor("ticks"), "the cursor was moved")

    expect((seen, seen.utcoffset())).equals((at.astimezone(UTC), timedelta(0)), "the same instant, in UTC")


@check("time.aware", needs=FleetStore)
async def the_instants_of_workers_are_in_utc(bench: Bench) -> None:
    beat = WorkerBeat(id=WORKER, host="h", pid=1, version="1", queues=(), kinds=(), schedules=(), slots=1, busy=0)
    await bench.fleet.beat(beat, live_for=HOUR)

    (row,) = await bench.fleet.workers()

    for at in (row.started_at, row.last_beat):
        expect(at.utcoffset()).equals(timedelta(0), "every instant that comes back is aware and in UTC")


@check("time.resolution", needs=QueryableStore)
async def instants_are_cut_toward_the_past_and_do_not_drift(bench: Bench) -> None:
    instants = (
        datetime(2026, 3, 29, 1, 30, 0, 999_999, tzinfo=UTC),
        datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
        datetime(1900, 1, 1, 0, 0, 0, 1, tzinfo=UTC),
        datetime(2038, 1, 19, 3, 14, 8, 123_457, tzinfo=UTC),
        datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
    )
    for at in instants:
        job = await bench.enqueue_one(run_at=at)
        first = (await bench.details(job)).summary.run_at
        again = await bench.enqueue_one(run_at=first)

        expect(first).equals(bench.cut(at), "finer parts are cut off toward the past, never rounded up")
        expect((await bench.details(again)).summary.run_at).equals(first, "a stored instant does not drift")


@check("time.resolution", needs=QueryableStore)
async def an_instant_read_and_written_again_is_the_same_in_every_place(bench: Bench) -> None:
    at = datetime(2031, 7, 8, 9, 10, 11, 121_314, tzinfo=UTC)
    job = await bench.claimed()
    states: tuple[State, ...] = (Failed(at), Scheduled(at))

    for state in states:
        await bench.settle(job, state)
        summary = (await bench.details(job.id)).summary
        seen = summary.retry_at if isinstance(state, Failed) else summary.run_at
        expect(seen).equals(bench.cut(at), "a stored instant does not drift")
        moved = await bench.store.transition(job.id, from_=type(state)(seen), to=Enqueued())  # type: ignore[call-arg]
        expect(moved).equals(True, "and compares equal to itself")
        job = await bench.claim_one()


@check("time.resolution", "life.errors")
async def what_lies_beyond_the_calendar_is_refused(bench: Bench) -> None:
    job = await bench.claimed()
    why = "an instant that cannot be is refused, and nothing is written"

    with expect_refusal(InvalidInput, why):
        await bench.store.enqueue([bench.new(run_at=timedelta.max)])
    with expect_refusal(InvalidInput, why):
        await bench.store.enqueue([bench.new(run_at=datetime.max.replace(tzinfo=timezone(timedelta(hours=-1))))])
    with expect_refusal(InvalidInput, why):
        await bench.store.transition(job.id, from_=Running(), to=Failed(timedelta.max), fence=job.fence)
    with expect_refusal(InvalidInput, why):
        await bench.claim(lease=timedelta.max)

    expect(await bench.claim()).equals([], "nothing was written")
    await bench.settle(job, Succeeded())


@check("time.backwards", "claim.exclusive", "claim.fence", given="advance")
async def a_clock_that_steps_back_breaks_no_exclusivity(bench: Bench) -> None:
    held = await bench.claimed(lease=MINUTE)
    bench.move_clock(-HOUR)

    expect(await bench.claim(worker=OTHER_WORKER)).equals([], "exclusivity is unaffected")
    expect(await bench.store.heartbeat({held.id: held.fence}, worker=WORKER, extend=MINUTE)).equals(
        {held.id}, "the holder holds it"
    )
    bench.move_clock(HOUR + MINUTE)
    taken = await bench.claim_one(worker=OTHER_WORKER)
    expect(taken.fence).above(held.fence, "leases are late by the step at most, and fences grow")


@check("time.backwards", "enqueue.ids", "enqueue.unique", given="advance")
async def a_clock_that_steps_back_loses_no_job_and_no_key(bench: Bench) -> None:
    due = await bench.enqueue_one(unique_key="k")
    bench.move_clock(-HOUR)
    later = await bench.enqueue_one()

    expect(later).above(due, "ids grow")
    (result,) = await bench.store.enqueue([bench.new(unique_key="k")])
    expect((result.id, result.created)).equals((due, False), "unique keys are unaffected")
    claimed = await bench.claimed_ids()
    expect(later in claimed).equals(True, "what is enqueued now is due now")
    bench.move_clock(HOUR)
    expect({*claimed, *await bench.claimed_ids(lease=9 * HOUR)}).equals({due, later}, "late by the step at most")


@check("time.backwards", "lease.one", "lease.cursor", needs=LeaseStore, given="advance")
async def a_clock_that_steps_back_revives_no_lease_that_was_released(bench: Bench) -> None:
    now = await bench.store.now()
    old = present(await bench.leases.acquire_lease("ticker", "me", MINUTE), "a free lease is given")
    bench.move_clock(SECOND)
    await bench.leases.release_lease("ticker", "me")
    bench.move_clock(-HOUR)

    moved = await bench.leases.advance_cursor("ticks", now, lease="ticker", fence=old)
    expect(moved).equals(False, "what was released is over, wherever the clock goes")
    new = await bench.leases.acquire_lease("ticker", "you", MINUTE)
    expect(new).above(old, "and is free for others, under a higher fence")


@check("time.backwards", "schedule.complete", given="advance")
async def a_clock_that_steps_back_repeats_no_tick(bench: Bench) -> None:
    now = await bench.store.now()
    spec = ScheduleSpec(id=S, kind=KIND, fingerprint="v1", description="", fire_at=now)
    await bench.store.upsert_schedules([spec])
    (fire,) = await bench.store.due_schedules(ids=[S], limit=1, lease=MINUTE, worker=WORKER)
    await bench.store.complete_fire(S, fence=fire.fence, runs=[], next_fire_at=now + MINUTE)

    bench.move_clock(-HOUR)

    again = await bench.store.due_schedules(ids=[S], limit=1, lease=MINUTE, worker=WORKER)
    expect(again).equals([], "completed ticks are unaffected")
    done = await bench.store.complete_fire(S, fence=fire.fence, runs=[bench.new()], next_fire_at=None)
    expect(done).equals(None, "a used fence stays used")
    bench.move_clock(HOUR + MINUTE)
    (following,) = await bench.store.due_schedules(ids=[S], limit=1, lease=MINUTE, worker=WORKER)
    expect(following.scheduled_for).equals(now + MINUTE, "the next tick is late by the step at most")
    expect(following.fence).above(fire.fence, "fences are unaffected")
