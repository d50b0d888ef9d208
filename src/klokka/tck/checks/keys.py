"""Idempotency keys, alone and with a job."""

from datetime import timedelta

from klokka.core.ids import JobId, KeyToken
from klokka.core.records import RetentionPolicy
from klokka.core.states import Succeeded
from klokka.errors import InvalidInput, UniqueConflict
from klokka.spi.keys import EnqueueOnceStore, IdempotencyStore
from klokka.spi.store import JobStore
from klokka.tck.bench import HOUR, MINUTE, Bench
from klokka.tck.check import check
from klokka.tck.violations import expect, expect_refusal, present


@check("key.once", needs=IdempotencyStore)
async def a_key_is_claimed_once(bench: Bench) -> None:
    first = await bench.keys.claim_key("scope", "key", HOUR)

    expect(first).differs(None, "a free key gives a token")
    expect(await bench.keys.claim_key("scope", "key", HOUR)).equals(None, "None for all others")
    expect(await bench.keys.claim_key("scope", "key", MINUTE)).equals(None, "whatever their ttl")


@check("key.once", needs=IdempotencyStore)
async def scope_and_key_are_compared_exactly_and_apart(bench: Bench) -> None:
    pairs = [("a", "b"), ("b", "a"), ("ab", "c"), ("a", "bc"), ("a", "B"), ("a", "b "), ("a", "é"), ("a", "e\u0301")]

    tokens = [await bench.keys.claim_key(scope, key, HOUR) for scope, key in pairs]

    expect(None in tokens).equals(False, "pairs that differ at all are different")
    expect(len(set(tokens))).equals(len(pairs), "each claim has its own token")


@check("key.once", "time.store-clock", needs=IdempotencyStore, given="advance")
async def exactly_at_its_ttl_a_key_is_free(bench: Bench) -> None:
    first = await bench.keys.claim_key("scope", "key", MINUTE)

    await bench.pass_time(MINUTE - bench.step)
    expect(await bench.keys.claim_key("scope", "key", HOUR)).equals(None, "until the ttl has passed")
    await bench.pass_time(bench.step)
    second = await bench.keys.claim_key("scope", "key", HOUR)
    expect(second).differs(None, "exactly at the ttl the key is free")
    expect(second).differs(first, "under another token")


@check("key.once", needs=IdempotencyStore, given="advance")
async def whoever_comes_late_does_not_move_the_end(bench: Bench) -> None:
    await bench.keys.claim_key("scope", "key", MINUTE)
    await bench.keys.claim_key("scope", "key", HOUR)
    await bench.keys.claim_key("other", "key", HOUR)

    await bench.pass_time(MINUTE)

    expect(await bench.keys.claim_key("scope", "key", HOUR)).differs(
        None, "its token lasts until its own ttl has passed"
    )


@check("key.once", needs=IdempotencyStore)
async def of_any_number_of_callers_one_gets_the_key(bench: Bench) -> None:
    async def claim(store: JobStore, number: int) -> list[KeyToken | None]:
        keys = present(store if isinstance(store, IdempotencyStore) else None, "every handle has the capability")
        order = range(10) if number % 2 else reversed(range(10))
        return [await keys.claim_key(scope, str(key), HOUR) for key in order]

    for crowd in (bench.gathered, bench.threaded):
        scope = crowd.__name__
        tokens = [token for of_one in await crowd(6, claim) for token in of_one if token is not None]
        expect(len(tokens)).equals(10, "of any callers at once, one gets a token for each key")
        expect(len(set(tokens))).equals(10, "and no two tokens are equal")


@check("key.once", needs=IdempotencyStore)
async def of_many_who_want_a_key_at_its_end_one_gets_it(bench: Bench) -> None:
    async def claim(store: JobStore, number: int) -> KeyToken | None:
        keys = present(store if isinstance(store, IdempotencyStore) else None, "every handle has the capability")
        return await keys.claim_key("scope", "key", HOUR + number * MINUTE)

    await bench.keys.claim_key("scope", "key", bench.short)
    await bench.pass_time(bench.short)

    tokens = await bench.threaded(6, claim)

    expect(sum(token is not None for token in tokens)).equals(1, "one gets a token, when an ended one is replaced too")


@check("key.owner", needs=IdempotencyStore)
async def only_the_token_frees_its_claim(bench: Bench) -> None:
    token = present(await bench.keys.claim_key("scope", "key", HOUR), "a free key gives a token")
    other = present(await bench.keys.claim_key("scope", "other", HOUR), "a free key gives a token")

    guesses = ("", "guess", "%", token[:-1], token + "x", token.upper() + "x", f" {token}")
    for wrong in (other, *map(KeyToken, guesses)):
        freed = await bench.keys.release_key("scope", "key", wrong)
        expect(freed).equals(False, "only the token frees its claim")
    expect(await bench.keys.claim_key("scope", "key", HOUR)).equals(None, "and the key is still taken")
    expect(await bench.keys.release_key("scope", "key", token)).equals(True, "the token frees it")
    expect(await bench.keys.release_key("scope", "key", token)).equals(False, "once")
    expect(await bench.keys.claim_key("scope", "key", HOUR)).differs(None, "and the key is free")


@check("key.owner", "key.once", needs=IdempotencyStore)
async def an_ended_claims_token_frees_nothing_of_the_next(bench: Bench) -> None:
    old = present(await bench.keys.claim_key("scope", "key", bench.short), "a free key gives a token")
    await bench.pass_time(bench.short)
    await bench.keys.claim_key("scope", "key", HOUR)

    expect(await bench.keys.release_key("scope", "key", old)).equals(False, "only the token frees its claim")
    expect(await bench.keys.claim_key("scope", "key", HOUR)).equals(None, "the next claim stands")


@check("key.owner", "key.once", "time.store-clock", needs=IdempotencyStore, given="advance")
async def a_token_frees_its_claim_up_to_the_instant_before_its_end(bench: Bench) -> None:
    async def released_after(wait: timedelta) -> bool:
        token = present(await bench.keys.claim_key("scope", "key", MINUTE), "a free key gives a token")
        await bench.pass_time(wait)
        return await bench.keys.release_key("scope", "key", token)

    expect(await released_after(MINUTE - bench.step)).equals(True, "until the ttl has passed the token frees its claim")
    for late in (MINUTE, MINUTE + bench.step):
        expect(await released_after(late)).equals(
            False, "from the ttl on the key was not held any more, whether its record was swept or not"
        )


@check("key.owner", "sweep.retention", needs=IdempotencyStore)
async def releasing_an_ended_claim_changes_nothing(bench: Bench) -> None:
    token = present(await bench.keys.claim_key("scope", "key", bench.short), "a free key gives a token")
    await bench.pass_time(bench.short)

    freed = await bench.keys.release_key("scope", "key", token)
    swept = await bench.store.sweep(RetentionPolicy())

    expect(freed).equals(False, "from the ttl on the key is not held any more")

    expect(swept.keys).equals(1, "the record is the sweep's to remove")
    expect(await bench.keys.release_key("scope", "key", token)).equals(False, "and the answer is the same without it")


@check("key.atomic", "key.once", "key.owner", needs=EnqueueOnceStore)
async def key_and_job_are_written_together_and_once(bench: Bench) -> None:
    first = await bench.once.enqueue_once(bench.new(payload="1"), scope="scope", key="key", ttl=HOUR)
    second = await bench.once.enqueue_once(bench.new(payload="2"), scope="scope", key="key", ttl=HOUR)
    other = await bench.once.enqueue_once(bench.new(payload="3"), scope="scope", key="other", ttl=HOUR)

    expect(second).equals(None, "None for a duplicate of (scope, key)")
    claimed = await bench.claim()
    expect([(job.id, job.payload) for job in claimed]).equals([(first, "1"), (other, "3")], "key and job in one")
    for guess in ("", "None", str(first)):
        freed = await bench.once.release_key("scope", "key", KeyToken(guess))
        expect(freed, "key.owner").equals(False, "nobody was given its token")
    expect(await bench.once.claim_key("scope", "key", HOUR)).equals(None, "the key is a key like others")


@check("key.atomic", needs=EnqueueOnceStore)
async def the_record_outlives_its_job(bench: Bench) -> None:
    await bench.once.enqueue_once(bench.new(), scope="scope", key="key", ttl=24 * HOUR)
    await bench.settle(await bench.claim_one(), Succeeded())
    await bench.pass_time(bench.short)
    swept = await bench.store.sweep(RetentionPolicy(succeeded_for=timedelta(0)))

    again = await bench.once.enqueue_once(bench.new(), scope="scope", key="key", ttl=HOUR)

    expect((swept.jobs, swept.keys)).equals((1, 0), "the job was swept and the record was not")
    expect(again).equals(None, "the record outlives any job")


@check("key.atomic", "key.once", needs=EnqueueOnceStore, given="advance")
async def after_its_ttl_a_job_may_be_enqueued_again(bench: Bench) -> None:
    await bench.once.enqueue_once(bench.new(), scope="scope", key="key", ttl=MINUTE)
    await bench.pass_time(MINUTE - bench.step)
    expect(await bench.once.enqueue_once(bench.new(), scope="scope", key="key", ttl=MINUTE)).equals(
        None, "one step before its ttl the key is taken"
    )
    await bench.pass_time(bench.step)

    again = await bench.once.enqueue_once(bench.new(), scope="scope", key="key", ttl=MINUTE)

    expect(again).differs(None, "exactly at the ttl the key is free")
    expect(len(await bench.claim())).equals(2, "and the second job is stored")


@check("key.atomic", "enqueue.unique", needs=EnqueueOnceStore)
async def a_held_unique_key_writes_neither_and_names_its_holder(bench: Bench) -> None:
    holder = await bench.enqueue_one(unique_key="k")

    with expect_refusal(UniqueConflict, "a held unique key writes neither and raises") as refusal:
        await bench.once.enqueue_once(bench.new(unique_key="k"), scope="scope", key="key", ttl=HOUR)

    expect(refusal.error.holder).equals(holder, "with the holder's id")
    expect(await bench.claimed_ids()).equals([holder], "no job was written")
    expect(await bench.once.claim_key("scope", "key", HOUR)).differs(None, "and no key")


@check("key.atomic", "enqueue.unique", needs=EnqueueOnceStore)
async def a_duplicate_is_a_duplicate_though_the_unique_key_is_held_too(bench: Bench) -> None:
    new = bench.new(unique_key="k")
    await bench.once.enqueue_once(new, scope="scope", key="key", ttl=HOUR)

    again = await bench.once.enqueue_once(new, scope="scope", key="key", ttl=HOUR)

    expect(again).equals(None, "the same call sent twice is a duplicate of (scope, key), and no conflict")


@check("key.atomic", "enqueue.atomic", needs=EnqueueOnceStore)
async def a_refused_job_claims_no_key(bench: Bench) -> None:
    for bad in (bench.new(payload="\0"), bench.new(kind=""), bench.new(run_at=timedelta.max)):
        with expect_refusal(InvalidInput, "refused input is refused before any write"):
            await bench.once.enqueue_once(bad, scope="scope", key="key", ttl=HOUR)

    expect(await bench.once.claim_key("scope", "key", HOUR)).differs(None, "both or neither")


@check("key.atomic", "key.once", "enqueue.unique-race", needs=EnqueueOnceStore)
async def of_many_who_enqueue_once_one_does(bench: Bench) -> None:
    async def enqueue(store: JobStore, number: int) -> list[JobId]:
        once = present(store if isinstance(store, EnqueueOnceStore) else None, "every handle has the capability")
        ids = [
            await once.enqueue_once(bench.new(payload=str(number)), scope=scope, key=str(key), ttl=HOUR)
            for key in range(8)
        ]
        return [job for job in ids if job is not None]

    for crowd in (bench.gathered, bench.threaded):
        scope = crowd.__name__
        ids = [job for of_one in await crowd(6, enqueue) for job in of_one]

        expect(sorted(await bench.claimed_ids())).equals(sorted(ids), "key and job in one transaction")
        expect(len(ids)).equals(8, "one job for each key")


@check("key.once", "enqueue.text", needs=IdempotencyStore)
async def keys_take_any_text_and_no_empty_one(bench: Bench) -> None:
    for text in ("'; drop table jobs; --", "é\n\t“”", "%s \\u0000", "x" * bench.store.traits.limits.key):
        expect(await bench.keys.claim_key("scope", text, HOUR)).differs(None, "hostile text stays data")
        expect(await bench.keys.claim_key("scope", text, HOUR)).equals(None, "and is compared as it is")
    for bad in ("", "\0", "\ud800", "x" * (bench.store.traits.limits.key + 1)):
        with expect_refusal(InvalidInput, "what no store can keep is refused"):
            await bench.keys.claim_key("scope", bad, HOUR)


@check("key.once", needs=IdempotencyStore)
async def a_key_is_free_after_the_ttl_of_its_claim_whoever_came_late(bench: Bench) -> None:
    await bench.keys.claim_key("scope", "key", bench.short)
    await bench.keys.claim_key("scope", "key", HOUR)

    await bench.pass_time(2 * bench.short)

    expect(await bench.keys.claim_key("scope", "key", HOUR)).differs(
        None, "until its own ttl has passed, and no longer"
    )
