"""claim: in which order, from which queues, and when something is due next."""

from collections.abc import Callable
from datetime import datetime

from klokka.core.ids import JobId
from klokka.core.states import DeadLettered, Failed, Scheduled, Succeeded
from klokka.spi.fleet import FleetStore
from klokka.tck.bench import HOUR, KIND, MINUTE, OTHER_KIND, QUEUE, SECOND, WORKER, Bench
from klokka.tck.check import check
from klokka.tck.violations import expect, present

MANY = 100


@check("claim.order", "claim.exact")
async def due_jobs_come_by_time_and_then_by_id(bench: Bench) -> None:
    now = await bench.store.now()
    ages = [3, 1, 2, 3, 0, 2, 1, 3]
    jobs = [await bench.enqueue_one(run_at=now - age * MINUTE) for age in ages]
    expected = [job for _, job in sorted(zip([-age for age in ages], jobs, strict=True))]

    claimed: list[JobId] = []
    for limit in (1, 2, 3, MANY):
        claimed += await bench.claimed_ids(limit=limit)

    expect(claimed).equals(expected, "by due time, then by id, and exactly the first `limit` of that order")


@check("claim.order")
async def jobs_of_one_call_and_of_later_calls_come_in_the_order_of_enqueueing(bench: Bench) -> None:
    at = await bench.store.now() - HOUR
    ids = [job for _ in range(4) for job in await bench.enqueue_many(3, run_at=at)]

    expect(await bench.claimed_ids()).equals(ids, "equal due times come by id, the order of enqueueing")


@check("claim.order", "claim.kinds")
async def kinds_share_one_order(bench: Bench) -> None:
    now = await bench.store.now()
    jobs = [
        await bench.enqueue_one(kind=KIND if number % 2 else OTHER_KIND, run_at=now - HOUR + number * SECOND)
        for number in range(10)
    ]

    expect(await bench.claimed_ids(kinds=[KIND, OTHER_KIND], limit=7)).equals(jobs[:7], "one order for all kinds")
    expect(await bench.claimed_ids(kinds=[OTHER_KIND, KIND])).equals(jobs[7:], "the order of kinds means nothing")


@check("claim.order", "claim.exact")
async def of_equal_times_the_id_decides_across_kinds(bench: Bench) -> None:
    kinds = [f"tck.kind-{number * 7 % 5}" for number in range(60)]
    ids = [result.id for result in await bench.store.enqueue([bench.new(kind=kind) for kind in kinds])]

    claimed = [await bench.claimed_ids(kinds=set(kinds), limit=limit) for limit in (25, 1, 100)]

    expect(claimed).equals([ids[:25], ids[25:26], ids[26:]], "by due time, then by id, whatever the kind")


@check("claim.order")
async def a_booked_retry_and_a_snooze_stand_in_line_by_their_new_time(bench: Bench) -> None:
    now = await bench.store.now()
    failed = await bench.claimed(run_at=now - HOUR)
    snoozed = await bench.claimed(run_at=now - HOUR)
    await bench.settle(failed, Failed(now - 10 * MINUTE))
    await bench.settle(snoozed, Scheduled(now - 30 * MINUTE))
    late = await bench.enqueue_one(run_at=now - 5 * MINUTE)
    middle = await bench.enqueue_one(run_at=now - 20 * MINUTE)
    early = await bench.enqueue_one(run_at=now - 40 * MINUTE)

    expect(await bench.claimed_ids()).equals(
        [early, snoozed.id, middle, failed.id, late], "claim orders by the time that a transition set"
    )


@check("claim.order", "claim.expired", given="advance")
async def ended_leases_come_first_and_earliest_end_first(bench: Bench) -> None:
    now = await bench.store.now()
    third = await bench.claimed(lease=3 * MINUTE, run_at=now - 9 * HOUR)
    first = await bench.claimed(lease=MINUTE, run_at=now - HOUR)
    second = await bench.claimed(lease=2 * MINUTE, run_at=now - 5 * HOUR)
    tied = await bench.claimed(lease=2 * MINUTE, run_at=now - 8 * HOUR)
    running = await bench.claimed(lease=9 * HOUR, run_at=now - 9 * HOUR)
    backlog = await bench.enqueue_many(3, run_at=now - 10 * HOUR)
    await bench.pass_time(HOUR)

    claimed: list[JobId] = []
    for limit in (2, 1, 2, MANY):
        claimed += await bench.claimed_ids(limit=limit)

    expect(claimed).equals(
        [first.id, second.id, tied.id, third.id, *backlog],
        "those whose lease has ended stand before the backlog, earliest end first",
    )
    expect(running.id in claimed).equals(False, "an unexpired lease holds")


@check("claim.order", "heartbeat.extends", given="advance")
async def a_renewed_lease_takes_its_new_place(bench: Bench) -> None:
    renewed = await bench.claimed(lease=MINUTE)
    other = await bench.claimed(lease=2 * MINUTE)
    await bench.store.heartbeat({renewed.id: renewed.fence}, worker=WORKER, extend=3 * MINUTE)
    await bench.pass_time(2 * MINUTE)

    expect(await bench.claimed_ids(lease=HOUR)).equals([other.id], "a renewed lease has not ended")
    await bench.pass_time(MINUTE)
    expect(await bench.claimed_ids()).equals([renewed.id], "it ends at its new end")


@check("claim.look-back")
async def what_is_put_before_the_last_claim_is_given_when_the_store_looks_back(bench: Bench) -> None:
    now = await bench.store.now()
    backlog = await bench.enqueue_many(9, run_at=now - MINUTE)
    claimed = await bench.claimed_ids(limit=5)
    early = await bench.enqueue_one(run_at=now - HOUR)

    claimed += await bench.claimed_ids(limit=1)
    if early not in claimed:
        await bench.pass_time(bench.store.traits.looks_back)
        claimed += await bench.claimed_ids(limit=1)

    expect(early in claimed).equals(
        True, "what was put behind the place of the last claim counts from the next look back"
    )
    expect(claimed + await bench.claimed_ids()).fulfils(
        lambda ids: sorted(ids) == [*backlog, early], "all of them, each once", "nothing else is passed over meanwhile"
    )


@check("claim.look-back", "claim.next-due")
async def whoever_rests_is_back_for_what_was_passed_over(bench: Bench) -> None:
    await bench.enqueue_many(3)
    await bench.claimed_ids()
    early = await bench.enqueue_one(run_at=await bench.store.now() - HOUR)

    if await bench.claimed_ids() != [early]:
        due = present(await bench.store.next_due(queues=[QUEUE], kinds=[KIND]), "something may have been passed over")
        expect(due - await bench.store.now()).fulfils(
            lambda rest: rest <= bench.store.traits.looks_back,
            "at most what the store states",
            "`next_due` is no later than the next look back",
        )
        await bench.pass_time(bench.store.traits.looks_back)
        expect(await bench.claimed_ids()).equals([early], "which gives what was passed over")


@check("claim.queue-order")
async def an_earlier_queue_goes_first_whatever_waits_in_the_later_one(bench: Bench) -> None:
    now = await bench.store.now()
    low = [await bench.enqueue_one(queue="low", run_at=now - 9 * HOUR) for _ in range(3)]
    high = [await bench.enqueue_one(queue="high", run_at=now - SECOND) for _ in range(3)]

    expect(await bench.claimed_ids(queues=["high", "low"], limit=2)).equals(
        high[:2], "while an earlier queue has a due job, no later queue gives one"
    )
    expect(await bench.claimed_ids(queues=["high", "low"], limit=2)).equals(
        [high[2], low[0]], "the list comes back queue by queue, and the rest of `limit` goes on"
    )
    expect(await bench.claimed_ids(queues=["high", "low"])).equals(low[1:], "then the later queue")


@check("claim.queue-order", "claim.kinds")
async def what_an_earlier_queue_cannot_give_holds_up_nothing(bench: Bench) -> None:
    await bench.enqueue_one(queue="high", run_at=HOUR)
    await bench.enqueue_many(5, queue="high", kind=OTHER_KIND)
    await bench.claimed(queue="high")
    low = await bench.enqueue_one(queue="low")

    expect(await bench.claimed_ids(queues=["high", "low"], limit=3)).equals(
        [low], "jobs that wait, run or are of other kinds are not due in the earlier queue"
    )


@check("claim.queue-order", "claim.order", "claim.expired")
async def an_ended_lease_of_a_later_queue_waits_for_the_earlier_one(bench: Bench) -> None:
    ended = await bench.claimed(queue="low", lease=bench.short)
    await bench.pass_time(bench.short)
    high = await bench.enqueue_one(queue="high")

    expect(await bench.claimed_ids(queues=["high", "low"])).equals(
        [high, ended.id], "ended leases come first within their queue"
    )


@check("claim.queue-order", "claim.limit")
async def only_the_named_queues_give(bench: Bench) -> None:
    await bench.enqueue_one(queue="unnamed")
    named = await bench.enqueue_one(queue="named")

    expect(await bench.claimed_ids(queues=["named"])).equals([named], "queues that are not named give nothing")


@check("life.arguments", "claim.queue-order")
async def a_queue_named_twice_counts_once(bench: Bench) -> None:
    a = await bench.enqueue_many(4, queue="a")
    b = await bench.enqueue_many(2, queue="b")

    claimed = await bench.claimed_ids(queues=["a", "b", "a"], caps={"a": 3})

    expect(claimed).equals([*a[:3], *b], "repeated queues count once, at their first place")
    expect(await bench.store.next_due(queues=["a", "a"], kinds=[KIND, KIND])).differs(None, "for next_due as well")


@check("claim.caps")
async def a_cap_is_the_most_that_a_queue_gives_and_the_rest_goes_on(bench: Bench) -> None:
    a = await bench.enqueue_many(5, queue="a")
    b = await bench.enqueue_many(5, queue="b")
    c = await bench.enqueue_many(5, queue="c")

    claimed = await bench.claimed_ids(queues=["a", "b", "c"], limit=7, caps={"a": 2, "b": 0, "elsewhere": 1})
    expect(claimed).equals([*a[:2], *c], "at most the cap from a queue, and the rest of `limit` goes on to the next")
    claimed = await bench.claimed_ids(queues=["a", "b"], limit=3, caps={"a": 99})
    expect(claimed).equals(a[2:], "a cap beyond what there is changes nothing")
    claimed = await bench.claimed_ids(queues=["b"], limit=2, caps={"b": 4})
    expect(claimed).equals(b[:2], "`limit` bounds the call whatever the caps")


@check("claim.caps")
async def a_cap_is_of_one_call_and_of_the_named_queues(bench: Bench) -> None:
    ids = await bench.enqueue_many(4, queue="a")
    await bench.enqueue_many(1, queue="elsewhere")

    for turn in range(4):
        claimed = await bench.claimed_ids(queues=["a"], caps={"a": 1, "elsewhere": 9})
        expect(claimed).equals(
            [ids[turn]], "at most the cap in one call, whatever runs already, from named queues alone"
        )


@check("claim.caps")
async def what_a_cap_allows_and_its_queue_lacks_goes_to_the_next(bench: Bench) -> None:
    a = await bench.enqueue_many(1, queue="a")
    b = await bench.enqueue_many(5, queue="b")

    claimed = await bench.claimed_ids(queues=["empty", "a", "b"], limit=4, caps={"empty": 2, "a": 3})

    expect(claimed).equals([*a, *b[:3]], "a cap is a bound and no reservation: the rest of `limit` goes on")


@check("claim.caps", "claim.order")
async def a_cap_counts_ended_leases_too(bench: Bench) -> None:
    ended = [await bench.claimed(lease=bench.short) for _ in range(2)]
    await bench.pass_time(bench.short)
    backlog = await bench.enqueue_many(2)

    claimed = await bench.claimed_ids(caps={QUEUE: 3})

    expect(set(claimed)).equals({ended[0].id, ended[1].id, backlog[0]}, "at most the cap from a queue in one call")


@check("claim.next-due")
async def nothing_is_due_next_where_nothing_waits(bench: Bench) -> None:
    async def asked(queue: str = QUEUE, kind: str = KIND) -> object:
        return await bench.store.next_due(queues=[queue], kinds=[kind])

    expect(await asked()).equals(None, "None if nothing is waiting")
    for end in (Succeeded(), DeadLettered()):
        await bench.standing(end)
    expect(await asked()).equals(None, "terminal jobs wait for nothing")
    await bench.enqueue_one()
    expect(await asked(queue="other")).equals(None, "only the named queues count")
    expect(await asked(kind=OTHER_KIND)).equals(None, "only the named kinds count")
    expect(await bench.store.next_due(queues=[], kinds=[KIND])).equals(None, "no queues, nothing due")
    expect(await bench.store.next_due(queues=[QUEUE], kinds=[])).equals(None, "no kinds, nothing due")


@check("claim.next-due", given="advance")
async def the_next_due_time_is_the_earliest_of_all_that_waits(bench: Bench) -> None:
    now = bench.cut(await bench.store.now())

    async def expect_next(minutes: int, why: str) -> None:
        due = await bench.store.next_due(queues=["a", "b"], kinds=[KIND, OTHER_KIND])
        expect(due).equals(now + minutes * MINUTE, why)

    failed = await bench.claimed(queue="a")
    await bench.settle(failed, Failed(now + 50 * MINUTE))
    await expect_next(50, "a booked retry")
    await bench.enqueue_one(queue="b", run_at=now + 40 * MINUTE)
    await expect_next(40, "a job in another of the queues")
    await bench.enqueue_one(queue="a", kind=OTHER_KIND, run_at=now + 30 * MINUTE)
    await expect_next(30, "a job of another of the kinds")
    running = await bench.claimed(queue="b", lease=20 * MINUTE)
    await expect_next(20, "the end of a lease, at which the job is claimable again")
    await bench.store.heartbeat({running.id: running.fence}, worker=WORKER, extend=35 * MINUTE)
    await expect_next(30, "a renewed lease ends later")
    await bench.enqueue_one(queue="elsewhere", run_at=now + MINUTE)
    await expect_next(30, "other queues do not count")


@check("claim.next-due")
async def other_kinds_are_nothing_to_wake_for(bench: Bench) -> None:
    await bench.enqueue_one(kind=OTHER_KIND)
    await bench.claimed(kind="tck.third", lease=bench.short)

    async def due(*kinds: str) -> object:
        return await bench.store.next_due(queues=[QUEUE], kinds=kinds)

    expect(await due(KIND)).equals(None, "nothing of these kinds waits")
    expect(await due()).equals(None, "no kinds, nothing to wait for")
    expect(await due(KIND, OTHER_KIND)).differs(None, "a kind that is asked for counts")


@check("claim.next-due", given="advance")
async def at_the_next_due_time_a_claim_gives_something_and_before_it_nothing(bench: Bench) -> None:
    snoozed = await bench.claimed()
    await bench.settle(snoozed, Scheduled(MINUTE))
    await bench.claimed(lease=2 * MINUTE)
    failed = await bench.claimed()
    await bench.settle(failed, Failed(3 * MINUTE))

    for what in ("a snoozed job", "an ended lease", "a booked retry"):
        due = present(await bench.store.next_due(queues=[QUEUE], kinds=[KIND]), f"{what} is waiting")
        await bench.pass_time(due - await bench.store.now() - bench.step)
        expect(await bench.claim()).equals([], f"before its next due time a queue gives nothing: {what}")
        await bench.pass_time(bench.step)
        expect(len(await bench.claim(lease=9 * HOUR))).equals(1, f"at its next due time it gives something: {what}")


@check("claim.next-due")
async def what_is_due_already_is_due_now(bench: Bench) -> None:
    await bench.enqueue_one()
    expect(await bench.store.next_due(queues=[QUEUE], kinds=[KIND])).fulfils(
        _not_after(await bench.store.now()), "a time that is not in the future", "a due job is due now"
    )
    job = await bench.claim_one(lease=bench.short)
    await bench.pass_time(bench.short)
    expect(await bench.store.next_due(queues=[QUEUE], kinds=[KIND])).fulfils(
        _not_after(await bench.store.now()), "a time that is not in the future", f"job {job.id} may be taken over now"
    )


@check("claim.next-due", "fleet.pause", needs=FleetStore)
async def a_paused_queue_has_nothing_due(bench: Bench) -> None:
    await bench.enqueue_one(queue="paused")
    await bench.fleet.pause_queue("paused", "maintenance")

    expect(await bench.store.next_due(queues=["paused"], kinds=[KIND])).equals(None, "such a claim would give nothing")
    await bench.fleet.resume_queue("paused")
    expect(await bench.store.next_due(queues=["paused"], kinds=[KIND])).differs(None, "and now it would")


def _not_after(now: datetime) -> Callable[[datetime | None], bool]:
    return lambda due: due is not None and due <= now
