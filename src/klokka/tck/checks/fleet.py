"""The fleet: workers that live, and queues that rest."""

from datetime import timedelta

from klokka.core.ids import ScheduleId, WorkerId
from klokka.core.schedule_records import ScheduleSpec
from klokka.core.states import Failed, Succeeded
from klokka.core.worker_records import WorkerBeat
from klokka.spi.fleet import FleetStore
from klokka.spi.operate import OperableStore
from klokka.tck.bench import HOUR, KIND, MINUTE, QUEUE, WORKER, Bench
from klokka.tck.check import check
from klokka.tck.violations import expect


def _beat(id: str = "w", **changes: int) -> WorkerBeat:
    return WorkerBeat(
        id=WorkerId(id),
        host="host.example",
        pid=123,
        version="1.2.3",
        queues=("a", "b"),
        kinds=("x.y", "z"),
        schedules=(ScheduleId("s"), ScheduleId("größer")),
        slots=changes.get("slots", 8),
        busy=changes.get("busy", 0),
    )


@check("fleet.beat", "time.store-clock", needs=FleetStore)
async def a_worker_is_shown_as_it_last_said(bench: Bench) -> None:
    _, first = await bench.timed(bench.fleet.beat(_beat(), live_for=HOUR))
    await bench.pass_time(bench.short)
    _, second = await bench.timed(bench.fleet.beat(_beat(busy=3), live_for=HOUR))

    rows = await bench.fleet.workers()

    expect([row.beat for row in rows]).equals([_beat(busy=3)], "one row for each worker, with what its last beat said")
    expect(rows[0].started_at).within(first.start, first.end, "started with its first beat, by the store's clock")
    expect(rows[0].last_beat).within(second.start, second.end, "the last beat, by the store's clock")
    expect(rows[0].live).equals(True, "live for as long as its beat said")


@check("fleet.beat", needs=FleetStore)
async def each_beat_takes_the_place_of_the_last_one(bench: Bench) -> None:
    await bench.fleet.beat(_beat(), live_for=2 * HOUR)
    changed = WorkerBeat(
        id=WorkerId("w"),
        host="other.example",
        pid=7,
        version="2",
        queues=("c", "a"),
        kinds=("z", "k", "b"),
        schedules=(),
        slots=1,
        busy=1,
    )

    await bench.fleet.beat(changed, live_for=bench.short)

    expect([row.beat for row in await bench.fleet.workers()]).equals(
        [changed], "all that the last beat said, as it said it"
    )
    await bench.pass_time(bench.short)
    expect([row.live for row in await bench.fleet.workers()]).equals(
        [False], "and for as long, though it said longer before"
    )
    await bench.fleet.beat(_beat("another"), live_for=HOUR)
    expect([row.beat.id for row in await bench.fleet.workers()]).equals(
        ["another", "w"], "and is remembered, whoever else beats"
    )


@check("fleet.beat", needs=FleetStore, given="advance")
async def a_worker_is_live_up_to_the_instant_before_its_end(bench: Bench) -> None:
    await bench.fleet.beat(_beat(), live_for=MINUTE)

    await bench.pass_time(MINUTE - bench.step)
    expect([row.live for row in await bench.fleet.workers()]).equals([True], "live for as long as its beat said")
    await bench.pass_time(bench.step)
    expect([row.live for row in await bench.fleet.workers()]).equals([False], "its end not included")
    await bench.pass_time(timedelta(hours=24) - bench.step)
    expect(len(await bench.fleet.workers())).equals(1, "one that was live within a day is remembered")
    await bench.fleet.beat(_beat(), live_for=MINUTE)
    expect([row.live for row in await bench.fleet.workers()]).equals([True], "a beat makes it live again")


@check("fleet.beat", needs=FleetStore, given="advance")
async def live_workers_come_first_and_then_by_their_last_beat(bench: Bench) -> None:
    for id_, live_for in (("old", HOUR), ("dead", MINUTE), ("dead later", MINUTE), ("new", HOUR)):
        await bench.fleet.beat(_beat(id_), live_for=live_for)
        await bench.pass_time(MINUTE)

    rows = await bench.fleet.workers()

    expect([row.beat.id for row in rows]).equals(
        ["new", "old", "dead later", "dead"], "live ones first, then by last beat, latest first"
    )


@check("fleet.beat", needs=FleetStore)
async def a_worker_that_ends_in_order_is_forgotten(bench: Bench) -> None:
    await bench.fleet.beat(_beat("stays"), live_for=HOUR)
    await bench.fleet.beat(_beat("goes"), live_for=HOUR)

    await bench.fleet.retire(WorkerId("goes"))
    await bench.fleet.retire(WorkerId("goes"))
    await bench.fleet.retire(WorkerId("unknown"))

    expect([row.beat.id for row in await bench.fleet.workers()]).equals(["stays"], "forgotten, and unknown is no error")


@check("fleet.pause", needs=FleetStore)
async def a_paused_queue_takes_and_does_not_give(bench: Bench) -> None:
    before = await bench.enqueue_one(queue="paused")
    open_queue = await bench.enqueue_one(queue="open")
    await bench.fleet.pause_queue("paused", "maintenance")
    after = await bench.enqueue_one(queue="paused")

    expect(await bench.claimed_ids(queues=["paused", "open"])).equals([open_queue], "a paused queue gives no claims")
    expect(await bench.fleet.resume_queue("paused")).equals(True, "it was paused")
    expect(await bench.claimed_ids(queues=["paused", "open"])).equals([before, after], "and it took enqueues")


@check("fleet.pause", "claim.expired", needs=FleetStore)
async def an_ended_lease_waits_for_its_queue_too(bench: Bench) -> None:
    job = await bench.claimed(queue="paused", lease=bench.short)
    failed = await bench.claimed(queue="paused")
    await bench.settle(failed, Failed(bench.short))
    await bench.fleet.pause_queue("paused", "maintenance")
    await bench.pass_time(2 * bench.short)

    expect(await bench.claim(queues=["paused"])).equals([], "no claims, not of ended leases either")
    await bench.fleet.resume_queue("paused")
    expect(await bench.claimed_ids(queues=["paused"])).equals([job.id, failed.id], "they are claimable afterwards")


@check("fleet.pause", needs=FleetStore)
async def running_jobs_of_a_paused_queue_go_on_and_settle(bench: Bench) -> None:
    jobs = [await bench.claimed(queue="paused") for _ in range(2)]
    await bench.fleet.pause_queue("paused", "maintenance")

    held = await bench.store.heartbeat({job.id: job.fence for job in jobs}, worker=WORKER, extend=2 * HOUR)

    expect(held).equals({job.id for job in jobs}, "running jobs go on")
    for job in jobs:
        await bench.settle(job, Succeeded())


@check("fleet.pause", needs=(FleetStore, OperableStore))
async def a_paused_queue_takes_from_everywhere(bench: Bench) -> None:
    schedule = ScheduleId("s")
    at = await bench.store.now()
    await bench.store.upsert_schedules(
        [ScheduleSpec(id=schedule, kind=KIND, fingerprint="v1", description="", fire_at=at)]
    )
    (fire,) = await bench.store.due_schedules(ids=[schedule], limit=1, lease=HOUR, worker=WORKER)
    ended, failing, called_off, deleted = [await bench.claimed(queue="paused") for _ in range(4)]
    await bench.settle(ended, Succeeded())
    await bench.fleet.pause_queue("paused", "maintenance")

    expect(await bench.operate.requeue(ended.id)).equals(True, "a paused queue takes what is requeued")
    await bench.settle(failing, Failed(timedelta(0)))
    expect(await bench.operate.cancel(called_off.id)).equals(True, "and people may call off")
    expect(await bench.operate.delete(deleted.id)).equals(True, "and delete")
    runs = await bench.store.complete_fire(
        schedule, fence=fire.fence, runs=[bench.new(queue="paused")], next_fire_at=None
    )
    expect(runs).differs(None, "and schedules put their runs into it")

    await bench.fleet.resume_queue("paused")
    expect(len(await bench.claim(queues=["paused"]))).equals(3, "all of which it gives when it is resumed")


@check("fleet.pause", needs=FleetStore)
async def a_pause_without_a_reason_is_a_pause(bench: Bench) -> None:
    await bench.enqueue_one()

    await bench.fleet.pause_queue(QUEUE, "")

    expect(await bench.claim()).equals([], "a paused queue gives no claims, whatever the reason")
    expect(dict(await bench.fleet.paused_queues())).equals({QUEUE: ""}, "and is shown")
    expect(await bench.fleet.resume_queue(QUEUE)).equals(True, "it was paused")


@check("fleet.pause", needs=FleetStore)
async def pauses_are_shown_with_their_latest_reasons(bench: Bench) -> None:
    expect(dict(await bench.fleet.paused_queues())).equals({}, "nothing is paused")

    await bench.fleet.pause_queue("a", "first")
    await bench.fleet.pause_queue("a", "größer “2”\n")
    await bench.fleet.pause_queue("unknown", "before its first job")

    expect(dict(await bench.fleet.paused_queues())).equals(
        {"a": "größer “2”\n", "unknown": "before its first job"}, "known or not; the later reason stands"
    )
    answers = [await bench.fleet.resume_queue(queue) for queue in ("a", "a", "never")]
    expect(answers).equals([True, False, False], "resuming says whether it was paused")
    expect(list(await bench.fleet.paused_queues())).equals(["unknown"], "and ends the pause")


@check("fleet.pause", needs=FleetStore)
async def a_pause_is_seen_by_all_handles(bench: Bench) -> None:
    await bench.enqueue_one(queue="paused")
    other = await bench.handle()
    await bench.fleet.pause_queue("paused", "maintenance")

    expect(await bench.claim(queues=["paused"], store=other)).equals([], "a paused queue gives no claims to anybody")


@check("fleet.beat", needs=FleetStore)
async def a_silent_worker_is_remembered_and_not_live(bench: Bench) -> None:
    await bench.fleet.beat(_beat(), live_for=bench.short)
    await bench.pass_time(2 * bench.short)

    rows = await bench.fleet.workers()

    expect([(row.beat.id, row.live) for row in rows]).equals(
        [(_beat().id, False)], "live for as long as its beat said, and remembered for a day"
    )
