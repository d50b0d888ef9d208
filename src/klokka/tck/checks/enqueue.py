"""enqueue: order, ids, states and atomicity."""

from datetime import datetime, timedelta
from itertools import pairwise

from klokka.core.ids import MAX_ID, WorkerId
from klokka.core.records import RetentionPolicy
from klokka.core.states import Cancelled, Enqueued, JobStatus
from klokka.errors import InvalidInput
from klokka.spi.operate import OperableStore
from klokka.spi.query import QueryableStore
from klokka.spi.store import JobStore
from klokka.tck.bench import HOUR, KIND, QUEUE, Bench
from klokka.tck.check import check
from klokka.tck.violations import expect, expect_refusal

NOWHERE = datetime(2026, 1, 1)  # noqa: DTZ001 - naive on purpose


@check("enqueue.order")
async def results_come_in_the_order_of_the_input(bench: Bench) -> None:
    jobs = [bench.new(payload=str(number), run_at=timedelta(0)) for number in (3, 1, 2, 5, 4)]

    results = await bench.store.enqueue(jobs)

    stored = {job.id: job.payload for job in await bench.claim()}
    expect([stored.get(result.id) for result in results]).equals(
        [job.payload for job in jobs], "one result for each job, in the order of the input"
    )
    expect({result.created for result in results}).equals({True}, "`created` is true where a job was stored")


@check("enqueue.order", "enqueue.ids", "enqueue.atomic")
async def a_batch_of_a_thousand_is_stored_whole_and_in_order(bench: Bench) -> None:
    held = await bench.enqueue_one(unique_key="held", run_at=HOUR)
    keys = [f"key-{number}" if number != 500 else "held" for number in range(1000)]

    results = await bench.store.enqueue([bench.new(unique_key=key, payload=key) for key in keys])

    expect(len(results)).equals(1000, "one result for each job")
    expect(results[500].id).equals(held, "the position of a held key has the id of its holder")
    created = [result.id for result in results if result.created]
    expect(created).equals(sorted(set(created)), "within a call ids rise with the input")
    claimed = await bench.claim(limit=2000)
    expect([job.payload for job in claimed]).equals(
        [key for key in keys if key != "held"],
        "one held key among a thousand keeps none of the others from being stored",
    )


@check("enqueue.empty")
async def nothing_in_nothing_out(bench: Bench) -> None:
    results = await bench.store.enqueue([])

    expect(results).equals([], "nothing in, nothing out")
    expect(await bench.claim()).equals([], "nothing was stored")


@check("enqueue.atomic", "life.errors")
async def a_refused_job_leaves_no_trace_of_its_neighbours(bench: Bench) -> None:
    refused = (
        bench.new(run_at=NOWHERE),
        bench.new(run_at=timedelta(seconds=-1)),
        bench.new(run_at=timedelta.max),
        bench.new(payload="\0"),
        bench.new(kind="Not A Kind"),
        bench.new(payload_version=-1),
    )

    for bad in refused:
        with expect_refusal(InvalidInput, "refused input is refused before any write"):
            await bench.store.enqueue([bench.new(unique_key="before"), bad, bench.new()])

    expect(await bench.claim()).equals([], "a call stores all of its jobs or none")
    (result,) = await bench.store.enqueue([bench.new(unique_key="before")])
    expect(result.created).equals(True, "a key of a call that stored nothing is free")


@check("enqueue.ids")
async def ids_are_positive_and_grow_across_calls_and_handles(bench: Bench) -> None:
    other = await bench.handle()
    ids: list[int] = []

    for store in (bench.store, other, bench.store, other, other, bench.store):
        ids += [result.id for result in await store.enqueue([bench.new(), bench.new()])]

    expect(ids).fulfils(
        lambda seen: all(one < two for one, two in pairwise(seen)),
        "strictly growing ids",
        "ids of a call that had returned are smaller than those of a call that began after it",
    )
    expect(ids[0]).within(1, MAX_ID, "an id is a positive number below 2**63")
    expect(ids[-1]).within(1, MAX_ID, "an id is a positive number below 2**63")


@check("enqueue.ids")
async def ids_given_at_once_are_never_given_twice(bench: Bench) -> None:
    async def many(store: JobStore, number: int) -> list[int]:
        ids: list[int] = []
        for _ in range(10):
            ids += [result.id for result in await store.enqueue([bench.new(payload=str(number)) for _ in range(3)])]
        return ids

    given = await bench.threaded(6, many)

    expect(len({id_ for ids in given for id_ in ids})).equals(180, "an id is never given twice")
    for ids in given:
        expect(ids).equals(sorted(ids), "for each caller ids grow from call to call")


@check("enqueue.ids", "sweep.retention")
async def a_swept_id_is_not_given_again(bench: Bench) -> None:
    last = await bench.standing(Cancelled())
    await bench.pass_time(bench.short)

    report = await bench.store.sweep(RetentionPolicy(cancelled_for=timedelta(0)))
    fresh = await bench.enqueue_one()

    expect(report.jobs).equals(1, "a cancelled job older than its retention is deleted")
    expect(fresh).above(last, "an id is never given twice, even after its job was swept")


@check("enqueue.ids", "operate.delete", needs=OperableStore)
async def a_deleted_id_is_not_given_again(bench: Bench) -> None:
    last = (await bench.enqueue_many(3))[-1]
    await bench.operate.delete(last)

    fresh = await bench.enqueue_one()

    expect(fresh).above(last, "an id is never given twice, even after its job was deleted")


@check("enqueue.state", needs=QueryableStore)
async def a_job_due_now_or_before_is_enqueued_and_a_later_one_scheduled(bench: Bench) -> None:
    now = await bench.store.now()
    plans: list[datetime | timedelta | None] = [None, timedelta(0), now, now - HOUR]

    due = [await bench.enqueue_one(run_at=plan) for plan in plans]
    later = [await bench.enqueue_one(run_at=plan) for plan in (HOUR, now + HOUR)]

    for job in due:
        expect((await bench.details(job)).summary.status).equals(JobStatus.ENQUEUED, "due not in the future: Enqueued")
    for job in later:
        expect((await bench.details(job)).summary.status).equals(JobStatus.SCHEDULED, "in the future: Scheduled")


@check("enqueue.state", "time.resolution", needs=QueryableStore, given="advance")
async def one_step_of_the_clock_decides_between_enqueued_and_scheduled(bench: Bench) -> None:
    now = await bench.store.now()

    job = await bench.enqueue_one(run_at=now + bench.step)

    expect((await bench.details(job)).summary.status).equals(JobStatus.SCHEDULED, "one step ahead is in the future")


@check("enqueue.state", "time.store-clock", needs=QueryableStore)
async def a_wait_is_added_to_the_clock_of_the_store(bench: Bench) -> None:
    job, moment = await bench.timed(bench.enqueue_one(run_at=HOUR))

    details = await bench.details(job)

    expect(details.summary.run_at).within(
        moment.start + HOUR, moment.end + HOUR, "a duration counts from the store's now"
    )
    expect(details.summary.enqueued_at).within(moment.start, moment.end, "`enqueued_at` is the store's now")
    expect(details.scheduled_for).equals(details.summary.run_at, "`scheduled_for` is the first `run_at`")


@check("enqueue.state", "claim.due")
async def promotion_is_nothing_to_wait_for(bench: Bench) -> None:
    job = await bench.enqueue_one(run_at=bench.short)
    await bench.pass_time(bench.short)

    claimed = await bench.claimed_ids()

    expect(claimed).equals([job], "a job whose time has come is claimable though nobody promoted it")


@check("enqueue.text", "enqueue.order", "claim.attempt")
async def every_field_of_a_job_reaches_its_worker(bench: Bench) -> None:
    now = bench.cut(await bench.store.now())
    new = bench.new(
        payload='{"n": 1}', payload_version=7, run_at=now - HOUR, unique_key="k", schedule_id="s", headers={"a": "b"}
    )
    (result,), enqueued = await bench.timed(bench.store.enqueue([new]))

    jobs, claimed = await bench.timed(
        bench.store.claim(queues=[QUEUE], kinds={KIND}, limit=9, lease=HOUR, worker=WorkerId("w"))
    )

    expect(len(jobs)).equals(1, "the one job that is due is claimed")
    job = jobs[0]
    expect((job.id, job.kind, job.queue, job.payload, job.payload_version)).equals(
        (result.id, KIND, QUEUE, new.payload, 7), "a claim gives what was enqueued"
    )
    expect((job.unique_key, job.schedule_id, dict(job.headers))).equals(
        ("k", "s", {"a": "b"}), "a claim gives what was enqueued"
    )
    expect((job.attempt, job.lapses)).equals((1, 0), "an attempt counts claims, from 1")
    expect(job.scheduled_for).equals(now - HOUR, "`scheduled_for` is the first `run_at`")
    expect(job.enqueued_at).within(enqueued.start, enqueued.end, "`enqueued_at` is the store's now at the enqueue")
    expect(job.lease_until).within(
        claimed.start + HOUR, claimed.end + HOUR, "the lease is the store's now plus `lease`"
    )


@check("enqueue.state", "transition.times", needs=QueryableStore)
async def a_fresh_job_has_nothing_of_a_life_behind_it(bench: Bench) -> None:
    job = await bench.enqueue_one()

    details = await bench.details(job)

    summary = details.summary
    expect((summary.attempt, details.lapses, details.fence)).equals((0, 0, 0), "nobody has claimed it")
    expect((summary.retry_at, summary.terminal_at, details.lease_until, details.holder)).equals(
        (None, None, None, None), "`retry_at`, `terminal_at`, lease and holder are set in their states alone"
    )
    expect((details.last_error, details.progress)).equals((None, None), "nothing has failed and nothing was reported")
    expect(await bench.store.transition(job, from_=Enqueued(), to=Cancelled())).equals(True, "it is stored as Enqueued")
