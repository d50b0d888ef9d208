"""Looking: counts, details, lists, schedules and depths."""

from dataclasses import replace

from klokka.core.ids import MAX_ID, JobId, ScheduleId
from klokka.core.records import JobError, JobQuery, JobSummary, QueueDepth
from klokka.core.schedule_records import ScheduleSpec
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
    status_of,
)
from klokka.errors import InvalidInput
from klokka.spi.fleet import FleetStore
from klokka.spi.query import QueryableStore
from klokka.spi.store import JobStore
from klokka.tck.bench import HOUR, KIND, MINUTE, OTHER_KIND, WORKER, Bench
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


async def _ids(bench: Bench, query: JobQuery) -> list[JobId]:
    return [job.id for job in await bench.query.list_jobs(query)]


@check("query.counts", needs=QueryableStore)
async def every_status_is_counted_with_zero_where_there_is_none(bench: Bench) -> None:
    expect(dict(await bench.query.counts_by_status())).equals(dict.fromkeys(JobStatus, 0), "every status is present")

    for number, state in enumerate(STATES):
        for _ in range(number):
            await bench.standing(state, queue=status_of(state))

    counts = await bench.query.counts_by_status()
    expect(dict(counts)).equals({status_of(state): number for number, state in enumerate(STATES)}, "each as it stands")


@check("query.details", "transition.times", needs=QueryableStore)
async def a_job_is_shown_with_all_that_is_stored_of_it(bench: Bench) -> None:
    at = bench.cut(await bench.store.now()) - HOUR
    job = await bench.claimed(
        payload="[1]",
        payload_version=3,
        queue="q",
        run_at=at,
        unique_key="k",
        schedule_id=ScheduleId("s"),
        headers={"a": "b"},
    )

    details = await bench.details(job.id)

    summary = details.summary
    expect((summary.id, summary.kind, summary.queue, summary.status, summary.attempt)).equals(
        (job.id, KIND, "q", JobStatus.RUNNING, 1), "one job with all that is stored of it"
    )
    expect((summary.run_at, summary.enqueued_at, summary.schedule_id)).equals(
        (at, job.enqueued_at, "s"), "one job with all that is stored of it"
    )
    expect((details.payload, details.payload_version, details.unique_key, dict(details.headers))).equals(
        ("[1]", 3, "k", {"a": "b"}), "one job with all that is stored of it"
    )
    expect((details.scheduled_for, details.fence, details.lapses, details.lease_until, details.holder)).equals(
        (at, job.fence, 0, job.lease_until, WORKER), "one job with all that is stored of it"
    )
    expect((details.last_error, details.progress)).equals((None, None), "and nothing that is not")


@check("query.details", needs=QueryableStore)
async def a_booked_retry_stands_beside_the_time_last_planned(bench: Bench) -> None:
    at = bench.cut(await bench.store.now())
    job = await bench.claimed(run_at=at - HOUR)
    error = JobError(type="E", message="m", traceback="t", attempt=1, at=at)
    await bench.settle(job, Failed(at + HOUR), error=error)

    details = await bench.details(job.id)

    expect((details.summary.run_at, details.summary.retry_at)).equals(
        (at - HOUR, at + HOUR), "a booked retry stands in `retry_at`, the time last planned in `run_at`"
    )
    expect((details.last_error, details.holder, details.lease_until)).equals((error, None, None), "as it stands")


@check("query.details", "life.arguments", needs=QueryableStore)
async def an_unknown_job_is_none(bench: Bench) -> None:
    known = await bench.enqueue_one()

    for number in (0, -1, known + 1000, MAX_ID, MAX_ID + 1, 2**70):
        expect(await bench.query.get_job(JobId(number))).equals(None, "an unknown id is None, and not an error")


@check("query.schedules", needs=QueryableStore)
async def every_schedule_is_listed_by_id(bench: Bench) -> None:
    ids = ["b", "a", "Z", "a.1", "10", "9", "é"]
    expect(await bench.query.list_schedules()).equals([], "no schedule, no row")
    at = bench.cut(await bench.store.now()) - HOUR
    for id_ in ids:
        when = at if id_ in ("a", "b") else at + len(id_) * HOUR
        spec = ScheduleSpec(id=ScheduleId(id_), kind=KIND, fingerprint="v1", description=f"the {id_}", fire_at=when)
        await bench.store.upsert_schedules([spec])
    (fire,) = await bench.store.due_schedules(ids=[ScheduleId("b")], limit=1, lease=HOUR, worker=WORKER)

    rows = {row.id: row for row in await bench.query.list_schedules()}

    expect(list(rows)).equals(sorted(ids), "every schedule row, ordered by id")
    b, a = rows[ScheduleId("b")], rows[ScheduleId("a")]
    expect((b.next_fire_at, b.fence, b.lease_until)).equals(
        (at, fire.fence, fire.now + HOUR), "with its fire in flight"
    )
    expect((a.kind, a.fingerprint, a.description, a.next_fire_at)).equals(
        (KIND, "v1", "the a", at), "as it was defined"
    )
    expect((a.lease_until, a.last_fired_at, a.paused)).equals((None, None, None), "and as it stands")


@check("query.depths", needs=QueryableStore)
async def queues_are_shown_by_name_with_what_waits_in_them(bench: Bench) -> None:
    expect(await bench.query.queue_depths()).equals([], "no live job, no queue")
    now = bench.cut(await bench.store.now())
    await bench.enqueue_one(queue="b", run_at=now - HOUR)
    await bench.enqueue_one(queue="b", run_at=now - 2 * HOUR, kind=OTHER_KIND)
    await bench.enqueue_one(queue="b", run_at=HOUR)
    failed = await bench.claimed(queue="a")
    await bench.settle(failed, Failed(HOUR))
    await bench.claimed(queue="a")
    for end in (Succeeded(), DeadLettered(), Cancelled()):
        await bench.standing(end, queue="ended")

    depths = await bench.query.queue_depths()

    expect(depths).equals(
        [
            QueueDepth(queue="a", due=0, waiting=1, running=1, oldest_due=None, paused=None),
            QueueDepth(queue="b", due=2, waiting=1, running=0, oldest_due=now - 2 * HOUR, paused=None),
        ],
        "every queue that has live jobs, by name: due now, waiting for its time, running, the oldest due time",
    )


@check("query.depths", "claim.due", needs=QueryableStore, given="advance")
async def time_alone_moves_jobs_from_waiting_to_due(bench: Bench) -> None:
    await bench.enqueue_one(run_at=MINUTE)
    failed = await bench.claimed()
    await bench.settle(failed, Failed(2 * MINUTE))
    await bench.claimed(lease=3 * MINUTE)

    seen: list[tuple[int, int, int]] = []
    for _ in range(4):
        (depth,) = await bench.query.queue_depths()
        seen.append((depth.due, depth.waiting, depth.running))
        await bench.pass_time(MINUTE)

    expect(seen).equals(
        [(0, 2, 1), (1, 1, 1), (2, 0, 1), (3, 0, 0)], "due now, ended leases count; a time that is now has come"
    )


@check("query.depths", "fleet.pause", needs=(QueryableStore, FleetStore))
async def a_paused_queue_is_shown_with_its_reason(bench: Bench) -> None:
    await bench.fleet.pause_queue("empty", "broken")
    await bench.enqueue_one(queue="full")
    await bench.fleet.pause_queue("full", "later")

    depths = {depth.queue: (depth.due, depth.paused) for depth in await bench.query.queue_depths()}

    expect(depths).equals({"empty": (0, "broken"), "full": (1, "later")}, "every queue that has live jobs or is paused")


@check("query.order", needs=QueryableStore)
async def jobs_are_listed_by_id_descending(bench: Bench) -> None:
    now = await bench.store.now()
    ids = [await bench.enqueue_one(run_at=now + age * HOUR) for age in (3, -1, 2, -2, 0)]
    await bench.claim(limit=2)

    expect(await _ids(bench, JobQuery())).equals(ids[::-1], "most recently persisted first, which is by id, descending")


@check("query.order", "query.page", "time.backwards", needs=QueryableStore, given="advance")
async def jobs_are_listed_by_id_wherever_the_clock_was(bench: Bench) -> None:
    ids = await bench.enqueue_many(30)
    bench.move_clock(-HOUR)
    ids += await bench.enqueue_many(30)

    expect(await _ids(bench, JobQuery(limit=60))).equals(ids[::-1], "by id, descending, whatever the times say")
    page = await _ids(bench, JobQuery(limit=60, before=ids[40]))
    expect(page).equals(ids[39::-1], "and so do pages")


@check("query.filters", needs=QueryableStore)
async def filters_are_joined_and_none_means_any(bench: Bench) -> None:
    made: dict[JobId, JobSummary] = {}
    keys: dict[JobId, str | None] = {}
    for number, state in enumerate(sorted(STATES, key=lambda state: isinstance(state, Enqueued))):
        for kind, queue in ((KIND, "x"), (OTHER_KIND, "y"), (KIND, "z")):
            key = f"{number}{queue}" if queue != "z" else None
            job = await bench.standing(
                state, kind=kind, queue=queue, unique_key=key, schedule_id=None if number % 2 else ScheduleId(queue)
            )
            made[job] = (await bench.details(job)).summary
            keys[job] = key
    queries = [
        JobQuery(),
        *(JobQuery(status=status) for status in JobStatus),
        *(JobQuery(kind=kind) for kind in (KIND, OTHER_KIND, "tck.unknown", "tck")),
        *(JobQuery(queue=queue) for queue in ("x", "y", "unknown")),
        *(JobQuery(unique_key=key) for key in ("0x", "6y", "0X", "0", "0_", "%", "*", "unknown")),
        *(JobQuery(queue=queue, limit=3) for queue in ("x", "y")),
        *(JobQuery(schedule_id=ScheduleId(id_)) for id_ in ("x", "z", "unknown")),
        JobQuery(status=JobStatus.FAILED, kind=KIND, queue="z"),
        JobQuery(status=JobStatus.ENQUEUED, kind=KIND, schedule_id=ScheduleId("x"), unique_key="6x"),
    ]

    for query in queries:
        wanted = [
            summary
            for job, summary in sorted(made.items(), reverse=True)
            if query.status in (None, summary.status)
            and query.kind in (None, summary.kind)
            and query.queue in (None, summary.queue)
            and query.schedule_id in (None, summary.schedule_id)
            and query.unique_key in (None, keys[job])
        ]
        expect(await bench.query.list_jobs(query)).equals(wanted[: query.limit], f"exactly the jobs of {query}")


@check("query.page", needs=QueryableStore)
async def limit_and_offset_page_the_filtered_set(bench: Bench) -> None:
    ids = [await bench.enqueue_one(kind=KIND if number % 3 else OTHER_KIND) for number in range(20)]
    wanted = [job for number, job in enumerate(ids) if number % 3][::-1]

    for limit, offset in ((5, 0), (5, 5), (5, 10), (1, 12), (50, 13), (50, 99), (0, 0), (0, 3)):
        page = await _ids(bench, JobQuery(kind=KIND, limit=limit, offset=offset))
        expect(page).equals(wanted[offset : offset + limit], "limit and offset page the filtered set")


@check("query.page", needs=QueryableStore)
async def a_page_is_as_long_as_its_limit_says(bench: Bench) -> None:
    ids = await bench.enqueue_many(1200)

    page = await _ids(bench, JobQuery(limit=1100))

    expect(page).equals(ids[::-1][:1100], "`limit` pages the set, and no smaller number that the store prefers")


@check("query.page", needs=QueryableStore)
async def the_cursor_pages_without_gap_or_repeat_while_rows_come_and_go(bench: Bench) -> None:
    ids = await bench.enqueue_many(20)
    seen: list[JobId] = []
    query = JobQuery(limit=6)

    for _ in range(5):
        page = await _ids(bench, query)
        if not page:
            break
        seen += page
        await bench.enqueue_many(3)
        await bench.store.transition(page[-1], from_=Enqueued(), to=Succeeded())
        query = replace(query, before=page[-1])

    expect(seen).equals(ids[::-1], "neither gap nor repeat while rows come and go")
    expect(await _ids(bench, JobQuery(before=ids[3], offset=1, limit=2))).equals(
        [ids[1], ids[0]], "offset counts behind the cursor"
    )


@check("query.page", "life.errors", needs=QueryableStore)
async def negative_and_extreme_numbers_of_a_page(bench: Bench) -> None:
    job = await bench.enqueue_one()

    for query in (JobQuery(limit=-1), JobQuery(offset=-1)):
        with expect_refusal(InvalidInput, "a negative number is an error"):
            await bench.query.list_jobs(query)

    expect(await _ids(bench, JobQuery(limit=2**62, before=JobId(MAX_ID)))).equals([job], "a large number is a number")
    expect(await _ids(bench, JobQuery(offset=2**62))).equals([], "a large number is a number")
    expect(await _ids(bench, JobQuery(before=JobId(0)))).equals([], "nothing has an id below that")


@check("query.pure", needs=QueryableStore)
async def reading_changes_nothing(bench: Bench) -> None:
    jobs = [await bench.standing(state, queue=status_of(state)) for state in STATES]
    await bench.pass_time(bench.short)
    spec = ScheduleSpec(
        id=ScheduleId("s"), kind=KIND, fingerprint="v1", description="", fire_at=await bench.store.now()
    )
    await bench.store.upsert_schedules([spec])

    async def look(store: JobStore, _: int) -> list[object]:
        reader = present(store if isinstance(store, QueryableStore) else None, "every handle has the capability")
        return [
            [await reader.get_job(job) for job in jobs],
            dict(await reader.counts_by_status()),
            await reader.list_jobs(JobQuery()),
            await reader.list_schedules(),
        ]

    first = await look(bench.store, 0)
    await bench.query.queue_depths()
    seen = await bench.gathered(4, look)

    expect(seen).equals([first] * 4, "reading changes nothing, and all handles see the same")


@check("query.depths", "claim.expired", needs=QueryableStore)
async def an_ended_lease_is_due_and_runs_no_more(bench: Bench) -> None:
    await bench.claimed(lease=bench.short)
    await bench.pass_time(2 * bench.short)

    (depth,) = await bench.query.queue_depths()

    expect((depth.due, depth.waiting, depth.running)).equals((1, 0, 0), "due now: ended leases count")
