"""Names are compared as they are: whole, with their case, and never as patterns."""

from typing import Final

from klokka.core.ids import JobId, ScheduleId, WorkerId
from klokka.core.records import JobQuery, NewJob
from klokka.core.worker_records import WorkerBeat
from klokka.spi.fleet import FleetStore
from klokka.spi.keys import IdempotencyStore, LeaseStore
from klokka.spi.query import QueryableStore
from klokka.tck.bench import HOUR, Bench
from klokka.tck.check import check
from klokka.tck.violations import expect

NAME: Final = "a_b"
OTHERS: Final = ("a", "a_", "a_b.c", "a_bc", "axb", "a.b", "a-b", "ab", "_", "b")
"""What a pattern, a prefix or a careless collation takes for the name; each is a kind and a queue."""
TEXT: Final = "Übung_1"
LIKE_IT: Final = (
    "übung_1",
    "ÜBUNG_1",
    "Übung_1 ",
    " Übung_1",
    "U\u0308bung_1",
    "Übung-1",
    "ÜbungX1",
    "Übung",
    "Ubung_1",
)
"""The same for names that may be any text."""


@check("claim.kinds", "claim.next-due")
async def a_kind_is_neither_a_pattern_nor_a_prefix(bench: Bench) -> None:
    jobs = await bench.store.enqueue([bench.new(kind=kind) for kind in (*OTHERS, NAME)])

    expect(await bench.claimed_ids(kinds=[NAME])).equals([jobs[-1].id], "only the given kinds")
    for kind, job in zip(OTHERS, jobs, strict=False):
        expect(await bench.claimed_ids(kinds=[kind])).equals([job.id], "only the given kinds")
    expect(await bench.store.next_due(queues=["default"], kinds=["a__b", "%", "*"])).equals(None, "and no others")


@check("claim.queue-order", "claim.next-due")
async def a_queue_is_neither_a_pattern_nor_a_prefix(bench: Bench) -> None:
    jobs = await bench.store.enqueue([bench.new(queue=queue) for queue in (*OTHERS, NAME)])

    expect(await bench.claimed_ids(queues=[NAME])).equals([jobs[-1].id], "only the named queues are scanned")
    for queue, job in zip(OTHERS, jobs, strict=False):
        expect(await bench.claimed_ids(queues=[queue], caps={NAME: 0})).equals([job.id], "a cap is for its queue alone")
    due = await bench.store.next_due(queues=["a__b", "%", "*"], kinds=["tck.job"])
    expect(due).equals(None, "only the named queues count")


@check("fleet.pause", needs=FleetStore)
async def a_pause_is_of_one_queue_alone(bench: Bench) -> None:
    jobs = await bench.store.enqueue([bench.new(queue=queue) for queue in (*OTHERS, NAME)])

    await bench.fleet.pause_queue(NAME, "a reason")

    expect(await bench.claimed_ids(queues=[NAME, *OTHERS])).equals(
        [job.id for job in jobs[:-1]], "a paused queue gives no claims, and all others do"
    )
    for queue in OTHERS:
        expect(await bench.fleet.resume_queue(queue)).equals(False, "another queue was not paused")
    expect(dict(await bench.fleet.paused_queues())).equals({NAME: "a reason"}, "and the paused one still is")


@check("heartbeat.held")
async def a_worker_is_compared_as_a_whole(bench: Bench) -> None:
    job = await bench.claimed(worker=WorkerId(TEXT))

    for other in LIKE_IT:
        held = await bench.store.heartbeat({job.id: job.fence}, worker=WorkerId(other), extend=HOUR)
        expect(held).equals(set[JobId](), f"{other!r} is another worker than {TEXT!r}")
    held = await bench.store.heartbeat({job.id: job.fence}, worker=WorkerId(TEXT), extend=HOUR)
    expect(held).equals({job.id}, "the holder holds it")


@check("key.once", needs=IdempotencyStore)
async def scopes_and_keys_are_compared_as_a_whole(bench: Bench) -> None:
    pairs = [
        ("s", TEXT),
        (TEXT, "s"),
        ("a:b", "c"),
        ("a", "b:c"),
        ("a\x1fb", "c"),
        ("a", "b\x1fc"),
        ("a/b", "c"),
        ("a", "b/c"),
    ]
    pairs += [("s", other) for other in LIKE_IT] + [(other, "s") for other in LIKE_IT]

    tokens = [await bench.keys.claim_key(scope, key, HOUR) for scope, key in pairs]

    taken = [pair for pair, token in zip(pairs, tokens, strict=True) if token is None]
    expect(taken).equals([], "pairs that differ at all are different")


@check("lease.one", needs=LeaseStore)
async def names_and_owners_of_leases_are_compared_as_a_whole(bench: Bench) -> None:
    for number, name in enumerate((TEXT, *LIKE_IT)):
        given = await bench.leases.acquire_lease(name, f"owner {number}", HOUR)
        expect(given).differs(None, f"{name!r} is a lease of its own")
    await bench.leases.release_lease(TEXT, "owner 0")
    await bench.leases.acquire_lease(TEXT, TEXT, HOUR)
    for other in LIKE_IT:
        given = await bench.leases.acquire_lease(TEXT, other, HOUR)
        expect(given).equals(None, f"{other!r} is another owner than {TEXT!r}")
        freed = await bench.leases.release_lease(TEXT, other)
        expect(freed).equals(False, f"{other!r} is another owner than {TEXT!r}")


@check("fleet.beat", needs=FleetStore)
async def workers_of_the_fleet_are_compared_as_a_whole(bench: Bench) -> None:
    names = {TEXT, *LIKE_IT}
    for name in sorted(names):
        beat = WorkerBeat(id=WorkerId(name), host="h", pid=1, version="1", queues=(), kinds=(), slots=1)
        await bench.fleet.beat(beat, live_for=HOUR)

    expect({row.beat.id for row in await bench.fleet.workers()}).equals(names, "names that differ at all are different")
    await bench.fleet.retire(WorkerId(TEXT))
    expect({row.beat.id for row in await bench.fleet.workers()}).equals(
        names - {TEXT}, "and one that ends is forgotten alone"
    )


@check("query.filters", needs=QueryableStore)
async def filters_compare_names_as_a_whole(bench: Bench) -> None:
    def made() -> list[NewJob]:
        plain = [bench.new(kind=name, queue=name) for name in (*OTHERS, NAME)]
        return plain + [bench.new(unique_key=text, schedule_id=ScheduleId(text)) for text in (*LIKE_IT, TEXT)]

    ids = [result.id for result in await bench.store.enqueue(made())]
    named, texted = ids[len(OTHERS)], ids[-1]
    queries = {
        JobQuery(kind=NAME): [named],
        JobQuery(queue=NAME): [named],
        JobQuery(unique_key=TEXT): [texted],
        JobQuery(schedule_id=ScheduleId(TEXT)): [texted],
        JobQuery(kind=""): [],
        JobQuery(queue=""): [],
        JobQuery(unique_key=""): [],
        JobQuery(schedule_id=ScheduleId("")): [],
    }

    for query, wanted in queries.items():
        found = [job.id for job in await bench.query.list_jobs(query)]
        expect(found).equals(wanted, f"exactly the jobs of {query}; None alone means any")


@check("query.depths", needs=QueryableStore)
async def queues_are_sorted_by_their_characters(bench: Bench) -> None:
    names = ["a", "a-", "a-b", "a.b", "a1", "a_b", "ab", "a-a", "aa", "_", "-", "1"]
    await bench.store.enqueue([bench.new(queue=name) for name in names])

    depths = await bench.query.queue_depths()

    expect([depth.queue for depth in depths]).equals(sorted(names), "every queue by name, as its characters compare")
