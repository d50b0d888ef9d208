"""Schedules: definitions, due fires and their completion."""

from datetime import timedelta

from klokka.core.ids import Fence, ScheduleId
from klokka.core.records import EnqueueResult
from klokka.core.schedule_records import ScheduleFire, ScheduleRow, ScheduleSpec
from klokka.errors import InvalidInput
from klokka.spi.query import QueryableStore
from klokka.spi.store import JobStore
from klokka.tck.bench import HOUR, KIND, MINUTE, OTHER_KIND, OTHER_WORKER, SECOND, WORKER, Bench
from klokka.tck.check import check
from klokka.tck.violations import expect, expect_refusal, present

S = ScheduleId("nightly")
NO_FIRES: list[ScheduleFire] = []


async def _spec(bench: Bench, id: str = S, *, fingerprint: str = "v1", ago: timedelta | None = HOUR) -> ScheduleSpec:
    """A definition whose first fire was due that long ago; None for a dormant one."""
    fire_at = None if ago is None else bench.cut(await bench.store.now()) - ago
    return ScheduleSpec(
        id=ScheduleId(id), kind=KIND, fingerprint=fingerprint, description=f"{id} {fingerprint}", fire_at=fire_at
    )


async def _due(bench: Bench, *ids: str, limit: int = 100, lease: timedelta = HOUR) -> list[ScheduleFire]:
    wanted = [ScheduleId(id_) for id_ in ids or (S,)]
    return await bench.store.due_schedules(ids=wanted, limit=limit, lease=lease, worker=WORKER)


async def _fire(bench: Bench, lease: timedelta = HOUR) -> ScheduleFire:
    """The fire of one schedule that is due."""
    await bench.store.upsert_schedules([await _spec(bench)])
    fires = await _due(bench, lease=lease)
    expect(len(fires)).equals(1, "a schedule whose time has come is due")
    return fires[0]


async def _row(bench: Bench, id: str = S) -> ScheduleRow:
    rows = [row for row in await bench.query.list_schedules() if row.id == id]
    return present(rows[0] if rows else None, "every schedule row is listed")


@check("schedule.upsert-new", "schedule.due", "time.store-clock")
async def a_new_schedule_fires_at_its_first_time(bench: Bench) -> None:
    spec = await _spec(bench)
    await bench.store.upsert_schedules([spec, await _spec(bench, "later", ago=-HOUR)])

    fires, moment = await bench.timed(_due(bench, S, "later"))

    expect([fire.schedule_id for fire in fires]).equals([S], "an unknown id is inserted with `next_fire_at = fire_at`")
    fire = fires[0]
    expect((fire.fingerprint, fire.scheduled_for)).equals(("v1", spec.fire_at), "the row's fingerprint and time")
    expect(fire.now).within(moment.start, moment.end, "`now` in the fire is the store's")


@check("schedule.upsert-new", needs=QueryableStore)
async def a_new_schedule_is_kept_as_it_was_defined(bench: Bench) -> None:
    spec = await _spec(bench)
    dormant = await _spec(bench, "dormant", ago=None)

    await bench.store.upsert_schedules([spec, dormant])

    for made in (spec, dormant):
        row = await _row(bench, made.id)
        expect((row.kind, row.fingerprint, row.description, row.next_fire_at)).equals(
            (made.kind, made.fingerprint, made.description, made.fire_at), "an unknown id is inserted as it is"
        )
        expect((row.last_fired_at, row.lease_until, row.paused)).equals((None, None, None), "nothing has happened yet")
    expect(await _due(bench, "dormant")).equals(NO_FIRES, "a schedule without a next fire is dormant")


@check("schedule.upsert-same", needs=QueryableStore)
async def an_equal_fingerprint_writes_nothing_at_all(bench: Bench) -> None:
    fire = await _fire(bench)
    before = await _row(bench)

    changed = ScheduleSpec(id=S, kind=OTHER_KIND, fingerprint="v1", description="other", fire_at=None)
    await bench.store.upsert_schedules([changed, changed])

    expect(await _row(bench)).equals(before, "an equal fingerprint writes nothing: no time, no lease, no fence")
    done = await bench.store.complete_fire(S, fence=fire.fence, runs=[], next_fire_at=None)
    expect(done).equals([], "a fire in flight can be completed")


@check("schedule.upsert-same")
async def the_same_definition_at_every_boot_fires_nothing_again(bench: Bench) -> None:
    fire = await _fire(bench)
    next_at = await bench.store.now() + HOUR
    await bench.store.complete_fire(S, fence=fire.fence, runs=[], next_fire_at=next_at)

    await bench.store.upsert_schedules([await _spec(bench)])

    expect(await _due(bench)).equals(NO_FIRES, "an equal fingerprint leaves the next fire where it was")


@check("schedule.upsert-changed")
async def a_changed_definition_withdraws_the_fire_in_flight(bench: Bench) -> None:
    old = await _fire(bench)
    spec = await _spec(bench, fingerprint="v2", ago=MINUTE)

    await bench.store.upsert_schedules([spec])

    done = await bench.store.complete_fire(S, fence=old.fence, runs=[bench.new()], next_fire_at=None)
    expect(done).equals(None, "a fire claimed under the old definition cannot be completed")
    expect(await bench.claim()).equals([], "and it inserts no run")
    fires = await _due(bench)
    expect([(fire.fingerprint, fire.scheduled_for) for fire in fires]).equals(
        [("v2", spec.fire_at)], "another fingerprint overwrites `next_fire_at` and clears the lease"
    )
    expect(fires[0].fence).above(old.fence + 1, "the upsert bumped the fence, and the claim did again")


@check("schedule.upsert-changed", needs=QueryableStore)
async def a_changed_definition_overwrites_what_defines(bench: Bench) -> None:
    fire = await _fire(bench)
    await bench.store.complete_fire(S, fence=fire.fence, runs=[], next_fire_at=None)
    before = await _row(bench)
    changed = ScheduleSpec(
        id=S, kind=OTHER_KIND, fingerprint="V1", description="“a”\n", fire_at=bench.cut(await bench.store.now()) + HOUR
    )

    await bench.store.upsert_schedules([changed])

    row = await _row(bench)
    expect((row.kind, row.fingerprint, row.description, row.next_fire_at)).equals(
        (changed.kind, changed.fingerprint, changed.description, changed.fire_at), "overwrites these four"
    )
    expect(row.last_fired_at).equals(before.last_fired_at, "what was fired stays on record")
    expect(row.fence).above(before.fence, "and bumps the fence")


@check("schedule.upsert-changed")
async def a_changed_definition_may_make_a_schedule_dormant(bench: Bench) -> None:
    await bench.store.upsert_schedules([await _spec(bench)])

    await bench.store.upsert_schedules([await _spec(bench, fingerprint="v2", ago=None)])

    expect(await _due(bench)).equals(NO_FIRES, "`next_fire_at` is the new definition's, which has none")


@check("schedule.upsert-last", needs=QueryableStore)
async def the_last_writer_wins_within_one_call_too(bench: Bench) -> None:
    v1, v2 = await _spec(bench), await _spec(bench, fingerprint="v2", ago=None)

    for specs, last in (([v1, v2], v2), ([v1], v1), ([v2, v1, v2], v2), ([v1, v2, v1], v1)):
        await bench.store.upsert_schedules(specs)
        row = await _row(bench)
        expect((row.fingerprint, row.next_fire_at)).equals((last.fingerprint, last.fire_at), "the last writer wins")


@check("schedule.upsert-last", "life.deadlock")
async def nodes_that_upsert_at_once_do_not_fail(bench: Bench) -> None:
    ids = [f"s{number}" for number in range(10)]

    versions = [[await _spec(bench, id_, fingerprint=f"v{version}") for id_ in ids] for version in range(3)]

    async def upsert(store: JobStore, number: int) -> None:
        for turn in range(3):
            specs = versions[(number + turn) % 3]
            await store.upsert_schedules(specs if number % 2 else specs[::-1])

    for crowd in (bench.gathered, bench.threaded):
        await crowd(5, upsert)

    fires = await _due(bench, *ids)
    expect({fire.schedule_id for fire in fires}).equals(set(ids), "every schedule is there")
    expect(len({fire.schedule_id for fire in fires})).equals(len(fires), "and each is there once")


@check("schedule.upsert-keeps")
async def an_upsert_deletes_nothing(bench: Bench) -> None:
    await bench.store.upsert_schedules([await _spec(bench, "old"), await _spec(bench, "kept")])

    await bench.store.upsert_schedules([await _spec(bench, "kept"), await _spec(bench, "new")])
    await bench.store.upsert_schedules([])

    fires = await _due(bench, "old", "kept", "new")
    expect({fire.schedule_id for fire in fires}).equals({"old", "kept", "new"}, "nothing is deleted by an upsert")


@check("schedule.due")
async def only_the_given_ids_fire_soonest_first_and_at_most_the_limit(bench: Bench) -> None:
    ages = {"a": 3, "b": 5, "c": 1, "d": 4, "e": 2, "f": 6}
    await bench.store.upsert_schedules([await _spec(bench, id_, ago=age * MINUTE) for id_, age in ages.items()])

    async def due(*ids: str, limit: int) -> list[str]:
        return [fire.schedule_id for fire in await _due(bench, *ids, limit=limit)]

    expect(await due("a", "b", "c", "e", "unknown", limit=0)).equals([], "a limit of zero gives nothing")
    expect(await due("a", "b", "c", "e", "a", limit=2)).equals(["b", "a"], "soonest first, at most `limit`")
    expect(await due("f", "f", limit=9)).equals(["f"], "one that is named twice fires once")
    expect(await due("a", "b", "c", "e", limit=9)).equals(["e", "c"], "not those under an unexpired lease")
    expect(await due("d", limit=9)).equals(["d"], "others were untouched")


@check("schedule.due")
async def where_no_id_is_named_nothing_fires(bench: Bench) -> None:
    await bench.store.upsert_schedules([await _spec(bench)])

    none = await bench.store.due_schedules(ids=[], limit=9, lease=HOUR, worker=WORKER)

    expect(none).equals(NO_FIRES, "no ids, no fires")
    expect(len(await _due(bench))).equals(1, "and what was due is due still")


@check("schedule.due")
async def a_negative_limit_of_fires_is_an_error(bench: Bench) -> None:
    await bench.store.upsert_schedules([await _spec(bench)])

    with expect_refusal(InvalidInput, "a negative `limit` is an error"):
        await _due(bench, limit=-1)

    expect(len(await _due(bench))).equals(1, "nothing was changed")


@check("schedule.due", given="advance")
async def a_schedule_is_due_exactly_at_its_time(bench: Bench) -> None:
    await bench.store.upsert_schedules([await _spec(bench, ago=-MINUTE)])

    at = bench.cut(await bench.store.now()) + MINUTE
    await bench.pass_time(at - await bench.store.now() - bench.step)
    expect(await _due(bench)).equals(NO_FIRES, "one step before its time it is not due")
    await bench.pass_time(bench.step)
    expect(len(await _due(bench))).equals(1, "a `next_fire_at` that is now is not in the future")


@check("schedule.due", "schedule.crash")
async def a_fire_is_claimed_by_one_worker_at_a_time(bench: Bench) -> None:
    ids = [ScheduleId(f"s{number}") for number in range(8)]

    async def claim(store: JobStore, number: int) -> list[ScheduleFire]:
        return await store.due_schedules(ids=ids, limit=3 + number % 3, lease=bench.short, worker=OTHER_WORKER)

    await bench.store.upsert_schedules([await _spec(bench, id_) for id_ in ids])
    seen: dict[ScheduleId, Fence] = dict.fromkeys(ids, Fence(0))
    for crowd in (bench.gathered, bench.threaded):
        fires = [fire for mine in await crowd(6, claim) for fire in mine]
        if bench.subject.advance is not None:
            expect(sorted(fire.schedule_id for fire in fires)).equals(ids, "each by one atomic claim, to one caller")
        for fire in fires:
            expect(fire.fence).above(seen[fire.schedule_id], "each under a higher fence")
            seen[fire.schedule_id] = fire.fence
        await bench.pass_time(bench.short)


@check("schedule.crash", "schedule.due", given="advance")
async def a_fire_whose_holder_died_is_due_again_at_the_end_of_its_lease(bench: Bench) -> None:
    first = await _fire(bench, lease=MINUTE)
    await bench.pass_time(MINUTE - bench.step)
    expect(await _due(bench)).equals(NO_FIRES, "under an unexpired lease, the caller's own included")
    await bench.pass_time(bench.step)

    (second,) = await _due(bench)

    expect(second.scheduled_for).equals(first.scheduled_for, "the same fire is due again")
    expect(second.fence).above(first.fence, "under a higher fence")
    done = await bench.store.complete_fire(S, fence=first.fence, runs=[bench.new()], next_fire_at=None)
    expect(done).equals(None, "the first holder was taken over")


@check("schedule.complete")
async def completing_a_fire_stores_its_runs_and_books_the_next(bench: Bench) -> None:
    fire = await _fire(bench)
    held = await bench.enqueue_one(unique_key="held", run_at=HOUR)
    next_at = bench.cut(await bench.store.now()) - SECOND
    runs = [
        bench.new(payload="1", schedule_id=S, run_at=fire.scheduled_for),
        bench.new(payload="2", unique_key="held"),
        bench.new(payload="3", unique_key="new"),
        bench.new(payload="4", unique_key="new"),
    ]

    results = present(
        await bench.store.complete_fire(S, fence=fire.fence, runs=runs, next_fire_at=next_at),
        "the holder of the current fence completes the fire",
    )

    expect([result.created for result in results]).equals([True, False, True, False], "by the rules of enqueue")
    expect((results[1].id, results[3].id)).equals((held, results[2].id), "by the rules of enqueue")
    claimed = await bench.claim()
    expect([(job.payload, job.schedule_id, job.id) for job in claimed]).equals(
        [("1", S, results[0].id), ("3", None, results[2].id)], "the runs are jobs like others"
    )
    (again,) = await _due(bench)
    expect(again.scheduled_for).equals(next_at, "sets `next_fire_at` and releases the lease")
    expect(again.fence).above(fire.fence, "and uses the fence up")


@check("schedule.complete", "schedule.fence")
async def the_same_completion_sent_twice_applies_once(bench: Bench) -> None:
    async def complete(store: JobStore, number: int) -> list[EnqueueResult] | None:
        run = bench.new(payload=str(number))
        return await store.complete_fire(S, fence=fire.fence, runs=[run], next_fire_at=next_at)

    next_at = await bench.store.now() - SECOND
    fire = await _fire(bench)
    for crowd in (bench.gathered, bench.threaded):
        done = [results for results in await crowd(5, complete) if results is not None]
        expect(len(done)).equals(1, "the fence is used up, so that the same completion applies once")
        expect(await bench.claimed_ids()).equals([done[0][0].id], "and inserts its runs once")
        (fire,) = await _due(bench)


@check("schedule.complete", needs=QueryableStore)
async def no_runs_and_no_next_fire_are_legal(bench: Bench) -> None:
    fire = await _fire(bench)

    results, moment = await bench.timed(bench.store.complete_fire(S, fence=fire.fence, runs=[], next_fire_at=None))

    expect(results).equals([], "no runs is legal and returns an empty list")
    row = await _row(bench)
    expect((row.next_fire_at, row.lease_until)).equals((None, None), "None makes it dormant, and the lease is released")
    expect(row.last_fired_at).within(moment.start, moment.end, "`last_fired_at` is the store's now")
    expect(row.fence).above(fire.fence, "and uses the fence up")
    expect(await _due(bench)).equals(NO_FIRES, "a dormant schedule is not due")


@check("schedule.complete", "enqueue.atomic", "life.errors")
async def a_refused_run_changes_nothing(bench: Bench) -> None:
    fire = await _fire(bench)

    for bad in (bench.new(payload="\0"), bench.new(run_at=timedelta.max), bench.new(kind="")):
        with expect_refusal(InvalidInput, "runs are refused by the rules of enqueue"):
            await bench.store.complete_fire(S, fence=fire.fence, runs=[bench.new(), bad], next_fire_at=None)

    expect(await bench.claim()).equals([], "one transaction: nothing was stored")
    done = await bench.store.complete_fire(S, fence=fire.fence, runs=[], next_fire_at=None)
    expect(done).equals([], "and the fire is still in flight")


@check("schedule.fence")
async def a_fence_that_is_not_the_current_one_completes_nothing(bench: Bench) -> None:
    fire = await _fire(bench)

    async def complete(id_: str, fence: int) -> object:
        run = bench.new(unique_key="run")
        return await bench.store.complete_fire(ScheduleId(id_), fence=Fence(fence), runs=[run], next_fire_at=None)

    for fence in (fire.fence + 1, fire.fence - 1, -1, 2**70):
        expect(await complete(S, fence)).equals(None, "any other fence returns None")
    expect(await complete("unknown", fire.fence)).equals(None, "an unknown id returns None")
    await bench.store.upsert_schedules([await _spec(bench, "idle")])
    for fence in range(3):
        expect(await complete("idle", fence)).equals(None, "a schedule without a lease returns None")

    expect(await bench.claim()).equals([], "inserts no run")
    (idle,) = await _due(bench, "idle")
    expect(idle.schedule_id).equals("idle", "and changes nothing")
    expect(await complete(S, fire.fence)).differs(None, "the current fence completes")


@check("schedule.fence")
async def an_ended_lease_that_nobody_took_over_is_no_refusal(bench: Bench) -> None:
    fire = await _fire(bench, lease=bench.short)
    await bench.pass_time(bench.short)

    done = await bench.store.complete_fire(S, fence=fire.fence, runs=[bench.new()], next_fire_at=None)

    expect(done).differs(None, "a lease that has ended and that nobody has taken over is not a refusal")
    expect(len(await bench.claim())).equals(1, "its run is stored")
    expect(await _due(bench)).equals(NO_FIRES, "and the fire is over")


@check("schedule.crash", "schedule.due")
async def a_fire_that_nobody_completed_comes_again_when_its_lease_is_over(bench: Bench) -> None:
    first = await _fire(bench, lease=bench.short)
    await bench.pass_time(2 * bench.short)

    (second,) = await _due(bench)

    expect(second.scheduled_for).equals(first.scheduled_for, "a fire whose holder died is due again")
    expect(second.fence).above(first.fence, "under a higher fence")
