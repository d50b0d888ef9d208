"""Enqueue inside of the caller's own transaction, awaited and blocking."""

from dataclasses import replace

from klokka.core.records import EnqueueResult
from klokka.core.states import Succeeded
from klokka.errors import Busy, InvalidInput, WrongTransaction
from klokka.spi.store import JobStore
from klokka.spi.transactions import SyncTransactionalStore, TransactionalStore
from klokka.tck.bench import HOUR, KIND, QUEUE, Bench
from klokka.tck.callers import Begin, check_both_sorts
from klokka.tck.check import check
from klokka.tck.crowds import in_thread
from klokka.tck.violations import expect, expect_refusal


async def _seen_by(bench: Bench, store: JobStore) -> list[str]:
    """What a worker gets while a transaction is open; a store with one writer may be busy, which gives nothing."""
    try:
        return [job.payload for job in await bench.claim(store=store)]
    except Busy:
        return []


@check_both_sorts("tx.atomic")
async def jobs_are_visible_from_the_commit_on(bench: Bench, begin: Begin) -> None:
    other = await bench.handle()

    async with begin(bench) as caller:
        results = await caller.enqueue([bench.new(payload="1"), bench.new(payload="2")])
        more = await caller.enqueue([bench.new(payload="3", unique_key="k", headers={"a": "b"})])
        expect(await _seen_by(bench, other)).equals([], "visible to workers only if the transaction commits")
        due = await other.next_due(queues=[QUEUE], kinds=[KIND])
        expect(due).equals(None, "visible to workers only if the transaction commits")

    jobs = await bench.claim(store=other)
    expect([job.payload for job in jobs]).equals(["1", "2", "3"], "and if it does, all of them are visible")
    expect([job.id for job in jobs]).equals([result.id for result in results + more], "under the ids that were given")
    expect(dict(jobs[2].headers)).equals({"a": "b"}, "by the rules of enqueue")


@check_both_sorts("tx.atomic", "enqueue.unique-life")
async def jobs_of_a_rolled_back_transaction_never_were(bench: Bench, begin: Begin) -> None:
    async with begin(bench) as caller:
        (gone,) = await caller.enqueue([bench.new(unique_key="k")])
        caller.roll_back()

    expect(await bench.claim()).equals([], "visible if and only if the caller's transaction commits")
    (fresh,) = await bench.store.enqueue([bench.new(unique_key="k")])
    expect(fresh.created).equals(True, "the key is free")
    expect(await bench.store.transition(gone.id, from_=Succeeded(), to=Succeeded())).equals(False, "it never was")


@check_both_sorts("tx.atomic", savepoint=True)
async def jobs_of_a_savepoint_share_its_fate(bench: Bench, begin: Begin) -> None:
    async with begin(bench) as caller:
        await caller.enqueue([bench.new(payload="before")])
        await caller.enqueue_in_savepoint([bench.new(payload="undone", unique_key="k")], False)
        await caller.enqueue_in_savepoint([bench.new(payload="kept")], True)
        (again,) = await caller.enqueue([bench.new(payload="after", unique_key="k")])
        expect(again.created).equals(True, "a key that a savepoint gave up is free")

    payloads = [job.payload for job in await bench.claim()]
    expect(payloads).equals(["before", "kept", "after"], "savepoints included")


@check_both_sorts("tx.atomic", "enqueue.atomic", "tx.hands-off")
async def refused_input_leaves_the_transaction_usable(bench: Bench, begin: Begin) -> None:
    async with begin(bench) as caller:
        await caller.enqueue([bench.new(payload="1")])
        with expect_refusal(InvalidInput, "refused input is refused before any write"):
            await caller.enqueue([bench.new(payload="refused"), bench.new(payload="\0")])
        await caller.enqueue([bench.new(payload="2")])

    payloads = [job.payload for job in await bench.claim()]
    expect(payloads).equals(["1", "2"], "all of a call or none, and the transaction goes on")


@check_both_sorts("tx.hands-off")
async def the_transaction_stays_the_callers(bench: Bench, begin: Begin) -> None:
    for _ in range(2):
        async with begin(bench) as caller:
            for number in range(3):
                await caller.enqueue([bench.new(payload=str(number))])
                await caller.enqueue([])
            caller.roll_back()

    expect(await bench.claim()).equals([], "enqueueing never commits: the caller could still roll all of it back")
    async with begin(bench) as caller:
        await caller.enqueue([bench.new(payload="1")])
    expect([job.payload for job in await bench.claim()]).equals(["1"], "nor does it roll back")


@check_both_sorts("time.store-clock", "enqueue.state")
async def the_time_is_the_statements_and_not_the_transactions(bench: Bench, begin: Begin) -> None:
    async with begin(bench) as caller:
        await caller.enqueue([bench.new()])
        await bench.pass_time(bench.short)
        plain, at_plain = await bench.timed(caller.enqueue([bench.new(), bench.new(run_at=HOUR)]))
        await bench.pass_time(bench.short)
        keyed, at_keyed = await bench.timed(caller.enqueue([bench.new(unique_key="k"), bench.new(run_at=2 * HOUR)]))

    jobs = {job.id: job for job in await bench.claim(lease=4 * HOUR)}
    for (due, _), moment in ((plain, at_plain), (keyed, at_keyed)):
        for at in (jobs[due.id].enqueued_at, jobs[due.id].scheduled_for):
            expect(at).within(moment.start, moment.end, "the time of the statement, however old the transaction is")
    next_due = await bench.store.next_due(queues=[QUEUE], kinds=[KIND])
    expect(next_due).within(at_plain.start + HOUR, at_plain.end + HOUR, "a wait counts from the statement too")


@check_both_sorts("enqueue.empty")
async def nothing_waits_for_nobody(bench: Bench, begin: Begin) -> None:
    other = await bench.handle()

    async with begin(bench) as caller:
        await caller.enqueue([bench.new(unique_key="k")])
        answer: object
        try:
            answer = await other.enqueue([])
        except Busy as error:
            answer = error

    expect(answer).equals([], "nothing in, nothing out, no round trip on which somebody could be waited for")


@check_both_sorts("tx.unique", "enqueue.unique")
async def a_held_key_leads_to_its_holder_in_a_transaction_too(bench: Bench, begin: Begin) -> None:
    holder = await bench.enqueue_one(unique_key="held", payload="first")
    ended = await bench.standing(Succeeded(), unique_key="free", queue="ended")

    async with begin(bench) as caller:
        results = await caller.enqueue(
            [bench.new(unique_key=key, payload=str(key)) for key in ("held", "new", "new", "free", None)]
        )
        again = await caller.enqueue([bench.new(unique_key="new"), bench.new(unique_key="held")])
        await caller.enqueue([bench.new(payload="last")])

    expect(results[0]).equals(EnqueueResult(id=holder, created=False), "a held key is success with the holder's id")
    expect([result.created for result in results]).equals([False, True, False, True, True], "by the rules of enqueue")
    expect(results[2].id).equals(results[1].id, "of equal keys in one call the first wins")
    expect(results[3].id).differs(ended, "a key whose job has ended is free")
    expect(again).equals(
        [EnqueueResult(id=results[1].id, created=False), results[0]], "the transaction sees the keys that it has taken"
    )
    payloads = [job.payload for job in await bench.claim()]
    expect(payloads).equals(["first", "new", "free", "None", "last"], "a conflict does not poison the transaction")


@check_both_sorts("tx.unique", "enqueue.unique")
async def an_open_transaction_keeps_nobody_from_the_holder_of_its_key(bench: Bench, begin: Begin) -> None:
    holder = await bench.enqueue_one(unique_key="k")
    other = await bench.handle()

    async with begin(bench) as caller:
        await caller.enqueue([bench.new(unique_key="k", payload="late")])
        claimed: object
        try:
            claimed = await bench.claimed_ids(store=other)
        except Busy as error:  # where there is one writer, and the caller is it
            claimed = error
        expect(claimed).fulfils(
            lambda it: it == [holder] or isinstance(it, Busy),
            "the job, or Busy",
            "the holder of a key is untouched, and no less to be had for being found",
        )


@check_both_sorts("tx.unique", "tx.atomic", "enqueue.bounded")
async def of_two_transactions_with_one_key_one_waits_or_is_refused_and_may_try_again(
    bench: Bench, begin: Begin
) -> None:
    async with begin(bench) as first:
        (mine,) = await first.enqueue([bench.new(unique_key="k", payload="first")])
        async with begin(bench) as second:
            with expect_refusal(Busy, "a typed error that may be retried"):
                await second.enqueue([bench.new(unique_key="k", payload="second")])

    async with begin(bench) as third:
        (theirs,) = await third.enqueue([bench.new(unique_key="k", run_at=HOUR)])
    expect(theirs).equals(EnqueueResult(id=mine.id, created=False), "tried again, the key leads to its holder")
    expect([job.payload for job in await bench.claim()]).equals(["first"], "one row for the key")


@check("tx.open", needs=TransactionalStore)
async def something_that_is_no_connection_is_refused(bench: Bench) -> None:
    for tx in (object(), None, "connection", bench.store):
        with expect_refusal(WrongTransaction, "only a connection of this store's sort can carry an enqueue"):
            await bench.tx.enqueue_in(tx, [bench.new()])

    expect(await bench.claim()).equals([], "nothing was written")


@check("tx.open", needs=SyncTransactionalStore)
async def something_that_is_no_blocking_connection_is_refused(bench: Bench) -> None:
    for tx in (object(), None, "connection", bench.store):
        with expect_refusal(WrongTransaction, "only a connection of this store's sort can carry an enqueue"):
            bench.sync_tx.enqueue_in_sync(tx, [bench.new()])

    expect(await bench.claim()).equals([], "nothing was written")


@check("tx.open", needs=TransactionalStore, given="unusable")
async def a_connection_on_which_an_insert_would_stand_alone_is_refused(bench: Bench) -> None:
    async with bench.unusable() as tx:
        with expect_refusal(WrongTransaction, "the insert would commit by itself, or the transaction has failed"):
            await bench.tx.enqueue_in(tx, [bench.new()])

    expect(await bench.claim()).equals([], "nothing was written")


@check("tx.open", needs=SyncTransactionalStore, given="sync_unusable")
async def a_blocking_connection_on_which_an_insert_would_stand_alone_is_refused(bench: Bench) -> None:
    def attempt() -> None:
        with (
            bench.sync_unusable() as tx,
            expect_refusal(WrongTransaction, "the insert would commit by itself, or the transaction has failed"),
        ):
            bench.sync_tx.enqueue_in_sync(tx, [bench.new()])

    await in_thread(attempt)

    expect(await bench.claim()).equals([], "nothing was written")


@check("tx.open", "tx.hands-off", needs=TransactionalStore, given="transaction")
async def a_transaction_that_has_ended_is_refused(bench: Bench) -> None:
    async with bench.transaction() as tx:
        await bench.tx.enqueue_in(tx, [bench.new(payload="within")])

    with expect_refusal(WrongTransaction, "a closed connection, or one in no transaction, carries no enqueue"):
        await bench.tx.enqueue_in(tx, [bench.new(payload="after")])

    expect([job.payload for job in await bench.claim()]).equals(["within"], "nothing more was written")


@check("tx.atomic", needs=SyncTransactionalStore, given="sync_transaction")
async def the_blocking_twin_needs_no_open_handle_and_no_loop(bench: Bench) -> None:
    closed = Bench(replace(bench.subject, store=bench.subject.other()))

    def enqueue() -> list[EnqueueResult]:
        with closed.sync_transaction() as tx:
            return closed.sync_tx.enqueue_in_sync(tx, [closed.new()])

    results = await in_thread(enqueue)

    expect(await bench.claimed_ids()).equals([result.id for result in results], "it needs neither handle nor loop")
