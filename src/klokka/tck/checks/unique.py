"""Unique keys: who holds one, for how long, and who wins a race."""

import asyncio
import time
from dataclasses import replace
from datetime import timedelta

from klokka.core.records import EnqueueResult
from klokka.core.states import (
    Cancelled,
    DeadLettered,
    Enqueued,
    Failed,
    Running,
    Scheduled,
    State,
    Succeeded,
)
from klokka.errors import Busy
from klokka.spi.query import QueryableStore
from klokka.spi.store import JobStore
from klokka.tck.bench import HOUR, KIND, OTHER_KIND, QUEUE, Bench
from klokka.tck.callers import Begin, check_both_sorts
from klokka.tck.check import check
from klokka.tck.crowds import patient
from klokka.tck.violations import expect, expect_refusal

LIVE_STATES: tuple[State, ...] = (Enqueued(), Scheduled(), Running(), Failed())
ENDS: tuple[State, ...] = (Succeeded(), DeadLettered(), Cancelled())


@check("enqueue.unique", needs=QueryableStore)
async def a_held_key_leads_to_its_holder_and_leaves_it_untouched(bench: Bench) -> None:
    for state in LIVE_STATES:
        key = f"key-{type(state).__name__}"
        holder = await bench.standing(state, unique_key=key, payload="first", queue=key.lower())
        before = await bench.details(holder)

        late = bench.new(unique_key=key, payload="second", queue="elsewhere", kind=OTHER_KIND, run_at=timedelta(0))
        (result,) = await bench.store.enqueue([replace(late, headers={"late": "yes"}, payload_version=9)])

        expect(result).equals(EnqueueResult(id=holder, created=False), "a held key is success with the holder's id")
        expect(await bench.details(holder)).equals(before, "the holder is untouched: payload, queue, time and state")


@check("enqueue.unique")
async def a_key_is_global_to_the_store(bench: Bench) -> None:
    holder = await bench.enqueue_one(unique_key="k")

    (result,) = await bench.store.enqueue([bench.new(unique_key="k", kind=OTHER_KIND, queue="elsewhere")])

    expect(result).equals(EnqueueResult(id=holder, created=False), "the key is global to the store")
    found = await bench.claimed_ids(queues=["elsewhere", QUEUE], kinds=[OTHER_KIND, KIND])
    expect(found).equals([holder], "no second job was stored")


@check("enqueue.unique")
async def keys_are_compared_exactly(bench: Bench) -> None:
    keys = ["k", "K", "k ", " k", "é", "e\u0301", "ß", "ss", "1", "01", "1.0", "k\n"]

    results = await bench.store.enqueue([bench.new(unique_key=key) for key in keys])

    expect([result.created for result in results]).equals([True] * len(keys), "keys that differ at all are different")


@check("enqueue.unique")
async def keys_of_several_calls_are_compared_exactly_and_whole(bench: Bench) -> None:
    longest = "k" * (bench.store.traits.limits.key - 1)
    keys = ["k", "K", "k ", "é", "e\u0301", "%", "_", longest + "a", longest + "b"]

    for key in keys:
        (result,) = await bench.store.enqueue([bench.new(unique_key=key)])
        expect(result.created).equals(True, "keys that differ at all are different")
    for key in keys:
        (result,) = await bench.store.enqueue([bench.new(unique_key=key)])
        expect(result.created).equals(False, "and an equal one is held")


@check("enqueue.unique")
async def jobs_without_a_key_never_meet(bench: Bench) -> None:
    results = await bench.store.enqueue([bench.new(), bench.new(), bench.new()])

    expect([result.created for result in results]).equals([True, True, True], "no key is held by nobody")


@check("enqueue.unique-batch", "enqueue.order")
async def of_equal_keys_in_one_call_the_first_wins(bench: Bench) -> None:
    keys = ["a", None, "b", "a", "a", "b", None]

    results = await bench.store.enqueue(
        [bench.new(unique_key=key, payload=str(number)) for number, key in enumerate(keys)]
    )

    expect([result.created for result in results]).equals(
        [True, True, True, False, False, False, True], "the same key twice in one call: the first wins"
    )
    expect((results[3].id, results[4].id, results[5].id)).equals(
        (results[0].id, results[0].id, results[2].id), "all positions of a key get the id of the first"
    )
    payloads = [job.payload for job in await bench.claim()]
    expect(payloads).equals(["0", "1", "2", "6"], "only the first of a key is stored")


@check("enqueue.unique", "enqueue.atomic")
async def one_held_key_spoils_none_of_a_thousand(bench: Bench) -> None:
    holder = await bench.enqueue_one(unique_key="k-500")

    results = await bench.store.enqueue([bench.new(unique_key=f"k-{number}") for number in range(1000)])

    expect([number for number, result in enumerate(results) if not result.created]).equals([500], "one key was held")
    expect(results[500].id).equals(holder, "its position gives the holder")
    found = await bench.claimed_ids(limit=2000)
    expect(sorted(found)).equals(sorted(result.id for result in results), "the other 999 are stored")


@check("enqueue.unique-life")
async def a_key_is_held_until_its_job_is_terminal(bench: Bench) -> None:
    async def taken(when: str) -> None:
        (result,) = await bench.store.enqueue([bench.new(unique_key="k", queue="elsewhere")])
        expect((result.id, result.created)).equals((job.id, False), f"a key is held {when}")

    job = await bench.claimed(unique_key="k", lease=bench.short)
    await taken("while its job runs")
    await bench.pass_time(bench.short)
    await taken("when the lease of its job has ended")
    job = await bench.claim_one()
    await taken("while its job runs again")
    await bench.settle(job, Failed(timedelta(0)))
    await taken("while a retry is booked")
    job = await bench.claim_one()
    await bench.settle(job, Scheduled(timedelta(0)))
    await taken("while its job is snoozed")
    job = await bench.claim_one()
    await bench.settle(job, Enqueued(), refund=True)
    await taken("when its job was handed back")


@check("enqueue.unique-life")
async def a_key_is_free_after_each_terminal_state(bench: Bench) -> None:
    for end in ENDS:
        ended = await bench.standing(end, unique_key="k")

        (result,) = await bench.store.enqueue([bench.new(unique_key="k")])

        expect(result.created).equals(True, f"a key is free when its job is {type(end).__name__}")
        expect(result.id).differs(ended, "another job holds the key now")
        await bench.settle(await bench.claim_one(), Succeeded())


@check("enqueue.unique-life", "transition.restart")
async def a_job_that_starts_again_holds_its_key_again(bench: Bench) -> None:
    for end in ENDS:
        key = type(end).__name__
        job = await bench.standing(end, unique_key=key)
        await bench.store.transition(job, from_=end, to=Scheduled(HOUR))

        (result,) = await bench.store.enqueue([bench.new(unique_key=key)])

        expect(result).equals(EnqueueResult(id=job, created=False), "a key is held by a job that is not terminal")


@check("enqueue.unique-race")
async def any_number_of_callers_at_once_get_one_job(bench: Bench) -> None:
    async def race(store: JobStore, number: int) -> list[EnqueueResult]:
        return [(await store.enqueue([bench.new(unique_key=f"k{turn}", payload=str(number))]))[0] for turn in range(10)]

    for raced in (await bench.gathered(8, race), await bench.threaded(8, race)):
        for turn in range(10):
            results = [of_caller[turn] for of_caller in raced]
            expect(len({result.id for result in results})).equals(1, "the same id for all callers")
            expect(sum(result.created for result in results)).is_in((0, 1), "one row for any number of callers")
    expect(len(await bench.claim())).equals(10, "one row for each key")


@check("enqueue.unique-race", "enqueue.atomic", "life.deadlock")
async def batches_with_the_same_keys_in_opposite_order_store_each_once(bench: Bench) -> None:
    keys = [f"k{number}" for number in range(40)]

    async def race(store: JobStore, number: int) -> list[EnqueueResult]:
        return await store.enqueue([bench.new(unique_key=key) for key in (keys if number % 2 else reversed(keys))])

    raced = await bench.threaded(6, race)

    created = [result.id for results in raced for result in results if result.created]
    expect(len(created)).equals(len(keys), "each key was stored by one caller")
    expect({result.id for results in raced for result in results}).equals(set(created), "all callers got those ids")


@check("enqueue.unique-race", "enqueue.unique-life")
async def a_job_that_ends_meanwhile_gives_way_to_one_other(bench: Bench) -> None:
    async def race(store: JobStore, number: int) -> EnqueueResult | None:
        if number == 0:
            await store.transition(holder.id, from_=Running(), to=Succeeded(), fence=holder.fence)
            return None
        return (await store.enqueue([bench.new(unique_key="k", payload=str(number))]))[0]

    holder = await bench.claimed(unique_key="k")
    results = [result for result in await bench.threaded(6, race) if result is not None]

    created = [result.id for result in results if result.created]
    expect(len(created)).is_in((0, 1), "one of the callers stored its job, or all came before the end")
    for result in results:
        expect(result.id).is_in([holder.id, *created], "the id belongs to a job that was live during the call")
    (after,) = await bench.store.enqueue([bench.new(unique_key="k")])
    expect(after.created).equals(not created, "a job that took the key over holds it")


@check_both_sorts("enqueue.unique-race", "tx.atomic")
async def if_the_winner_rolls_back_one_of_the_waiting_callers_wins(bench: Bench, begin: Begin) -> None:
    results = await _raced_against_transaction(bench, begin, commits=False)

    expect(sum(result.created for result in results)).equals(1, "one of the waiting callers' jobs exists")
    expect(len({result.id for result in results})).equals(1, "the same id for all callers")
    expect(await bench.claimed_ids()).equals([results[0].id], "the job that was rolled back does not exist")


@check_both_sorts("enqueue.unique-race", "tx.atomic")
async def if_the_winner_commits_all_waiting_callers_get_its_id(bench: Bench, begin: Begin) -> None:
    results = await _raced_against_transaction(bench, begin, commits=True)

    expect({result.created for result in results}).equals({False}, "the job of the committed transaction holds the key")
    expect(await bench.claimed_ids()).equals([results[0].id], "the same id for all callers, and one row")


async def _raced_against_transaction(bench: Bench, begin: Begin, *, commits: bool) -> list[EnqueueResult]:
    """What four callers get who want a key while an open transaction has it."""
    stores = [patient(await bench.handle()) for _ in range(4)]

    async def enqueue(store: JobStore) -> EnqueueResult:
        return (await store.enqueue([bench.new(unique_key="k")]))[0]

    waiting: list[asyncio.Task[EnqueueResult]] = []
    async with begin(bench) as caller:
        await caller.enqueue([bench.new(unique_key="k")])
        waiting = [asyncio.create_task(enqueue(store)) for store in stores]
        await asyncio.wait(waiting, timeout=min(0.05, bench.store.traits.bound.total_seconds() / 4))
        if not commits:
            caller.roll_back()
    return list(await asyncio.gather(*waiting))


@check_both_sorts("enqueue.bounded", "claim.wait-free")
async def waiting_for_an_uncommitted_key_ends_after_the_stated_bound(bench: Bench, begin: Begin) -> None:
    other = await bench.handle()

    async with begin(bench) as caller:
        (mine,) = await caller.enqueue([bench.new(unique_key="k")])
        begun = time.monotonic()
        with expect_refusal(Busy, "waiting for somebody's uncommitted key ends with a typed error") as refusal:
            await other.enqueue([bench.new(payload="neighbour"), bench.new(unique_key="k")])
        waited = time.monotonic() - begun

    expect(refusal.error.retry_is_safe).equals(True, "the error may be retried")
    most = bench.store.traits.bound + bench.subject.patience
    expect(waited).within(0.0, most.total_seconds(), "the wait ends after the stated limit")
    expect(await bench.claimed_ids()).equals([mine.id], "nothing was written by the one who waited")
