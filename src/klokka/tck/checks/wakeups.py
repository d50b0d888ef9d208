"""Hints: one for every commit that makes work claimable."""

import asyncio
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from datetime import timedelta
from typing import Final

from klokka.core.ids import ScheduleId
from klokka.core.records import Change
from klokka.core.schedule_records import ScheduleSpec
from klokka.core.states import Cancelled, Enqueued, Failed, Running, Scheduled, Succeeded
from klokka.spi.batch import BatchingStore
from klokka.spi.fleet import FleetStore
from klokka.spi.keys import EnqueueOnceStore
from klokka.spi.operate import OperableStore
from klokka.spi.store import JobStore
from klokka.spi.wakeups import PushCapableStore
from klokka.tck.bench import HOUR, KIND, SECOND, WORKER, Bench
from klokka.tck.callers import Begin, check_both_sorts
from klokka.tck.check import check
from klokka.tck.violations import Violation, expect, present

QUIET: Final = 0.1
"""Seconds without a hint after which none of the hints of before is still on its way."""
S = ScheduleId("nightly")


class Ear:
    """A subscription, listened to."""

    def __init__(self, hints: AsyncGenerator[None], patience: timedelta) -> None:
        self._patience = patience.total_seconds()
        self._heard: asyncio.Queue[None] = asyncio.Queue()
        self._listening = asyncio.create_task(self._listen(hints))

    async def _listen(self, hints: AsyncGenerator[None]) -> None:
        async with aclosing(hints):
            async for hint in hints:
                self._heard.put_nowait(hint)

    async def hint(self, why: str) -> None:
        """Returns when there is one."""
        try:
            await asyncio.wait_for(self._heard.get(), self._patience)
        except TimeoutError:
            if self._listening.done():
                await self._listening
            raise Violation(why, seen=f"no hint within {self._patience:g} s", expected="a hint") from None

    async def quiet(self) -> None:
        """Returns when what was on its way has arrived and is forgotten."""
        try:
            while True:
                await asyncio.wait_for(self._heard.get(), QUIET)
        except TimeoutError:
            return

    async def close(self) -> None:
        self._listening.cancel()
        await asyncio.wait([self._listening])


@asynccontextmanager
async def _listening(bench: Bench, store: JobStore) -> AsyncGenerator[Ear]:
    """A subscription that is in place, with nothing of before on its way."""
    pushing = present(store if isinstance(store, PushCapableStore) else None, "every handle has the capability")
    ear = Ear(pushing.wakeups(), bench.subject.patience)
    try:
        await ear.hint("a subscription gives one hint once it is in place")
        await ear.quiet()
        yield ear
    finally:
        await ear.close()


@check("wakeups.first", needs=PushCapableStore)
async def a_subscription_begins_with_a_hint(bench: Bench) -> None:
    for _ in range(2):
        async with _listening(bench, bench.store):
            pass


@check("wakeups.first", "wakeups.commit", needs=PushCapableStore)
async def whoever_subscribes_and_then_claims_misses_nothing(bench: Bench) -> None:
    other = await bench.handle()

    async def worker() -> list[str]:
        seen: list[str] = []
        async with aclosing(bench.push.wakeups()) as hints:
            async for _ in hints:
                seen += [job.payload for job in await bench.claim()]
                if "20" in seen:
                    break
        return seen

    patience = bench.subject.patience.total_seconds()
    working = asyncio.create_task(worker())
    for number in range(21):
        await other.enqueue([bench.new(payload=str(number))])
        await asyncio.sleep(0)

    seen = await asyncio.wait_for(working, patience)
    expect(sorted(seen, key=int)).equals(
        [str(number) for number in range(21)], "at least one hint follows every commit"
    )


@check("wakeups.hint", needs=PushCapableStore)
async def a_hint_carries_nothing_and_many_may_be_one(bench: Bench) -> None:
    seen: list[object] = []
    async with aclosing(bench.push.wakeups()) as hints, asyncio.timeout(bench.subject.patience.total_seconds()):
        async for hint in hints:
            seen.append(hint)
            if len(seen) == 2:
                break
            for _ in range(50):
                await bench.enqueue_one()

    expect(seen).equals([None, None], "no payload")
    expect(len(await bench.claim())).equals(50, "a hint may stand for many")


@check("wakeups.commit", "claim.due", needs=PushCapableStore)
async def each_verb_that_makes_work_claimable_gives_a_hint(bench: Bench) -> None:
    listener = await bench.handle()
    at = await bench.store.now() - SECOND
    spec = ScheduleSpec(id=S, kind=KIND, fingerprint="v1", description="", fire_at=at)
    await bench.store.upsert_schedules([spec])
    (fire,) = await bench.store.due_schedules(ids=[S], limit=1, lease=HOUR, worker=WORKER)
    back = await bench.claimed()
    retry = await bench.claimed()
    snooze = await bench.claimed()
    restart = await bench.standing(Succeeded())
    sooner = await bench.enqueue_one(run_at=HOUR)

    acts: list[tuple[str, Callable[[], Awaitable[object]]]] = [
        ("enqueue", lambda: bench.store.enqueue([bench.new(queue="other", kind="tck.other")])),
        ("a job handed back", lambda: bench.settle(back, Enqueued(), refund=True)),
        ("a retry that is due", lambda: bench.settle(retry, Failed(timedelta(0)))),
        ("a snooze that is over", lambda: bench.settle(snooze, Scheduled(at))),
        ("a restart", lambda: bench.store.transition(restart, from_=Succeeded(), to=Enqueued())),
        ("a job made due", lambda: bench.store.transition(sooner, from_=Scheduled(), to=Enqueued())),
        (
            "a completed fire",
            lambda: bench.store.complete_fire(S, fence=fire.fence, runs=[bench.new()], next_fire_at=None),
        ),
    ]

    await _each_gives_a_hint(bench, listener, acts)


@check("wakeups.commit", "operate.requeue", needs=(PushCapableStore, OperableStore))
async def requeueing_gives_a_hint(bench: Bench) -> None:
    listener = await bench.handle()
    job = await bench.standing(Cancelled())

    await _each_gives_a_hint(bench, listener, [("requeue", lambda: bench.operate.requeue(job))])


@check("wakeups.commit", "batch.each", needs=(PushCapableStore, BatchingStore))
async def a_batch_gives_a_hint(bench: Bench) -> None:
    listener = await bench.handle()
    job = await bench.claimed()
    change = Change(id=job.id, from_=Running(), to=Failed(timedelta(0)), fence=job.fence)

    await _each_gives_a_hint(bench, listener, [("a batch", lambda: bench.batch.transition_many([change]))])


@check("wakeups.commit", "key.atomic", needs=(PushCapableStore, EnqueueOnceStore))
async def enqueueing_once_gives_a_hint(bench: Bench) -> None:
    listener = await bench.handle()

    await _each_gives_a_hint(
        bench,
        listener,
        [("enqueue_once", lambda: bench.once.enqueue_once(bench.new(), scope="scope", key="key", ttl=HOUR))],
    )


@check("wakeups.commit", "fleet.pause", needs=(PushCapableStore, FleetStore))
async def resuming_a_queue_gives_a_hint(bench: Bench) -> None:
    listener = await bench.handle()
    await bench.enqueue_one(queue="paused")
    await bench.fleet.pause_queue("paused", "maintenance")

    await _each_gives_a_hint(bench, listener, [("resuming a queue", lambda: bench.fleet.resume_queue("paused"))])


async def _each_gives_a_hint(
    bench: Bench, listener: JobStore, acts: list[tuple[str, Callable[[], Awaitable[object]]]]
) -> None:
    async with _listening(bench, listener) as ear:
        for what, act in acts:
            await act()
            await ear.hint(f"at least one hint follows every commit that makes work claimable: {what}")
            await ear.quiet()


@check("wakeups.commit", needs=PushCapableStore)
async def hints_reach_every_handle_and_every_loop(bench: Bench) -> None:
    async def work(store: JobStore, number: int) -> None:
        if number == 0:
            await asyncio.to_thread(ready.wait)
            await store.enqueue([bench.new()])
            return
        async with _listening(bench, store) as ear:
            await asyncio.to_thread(ready.wait)
            await ear.hint("at least one hint follows every commit, on every handle")

    ready = threading.Barrier(4, timeout=20)
    await bench.threaded(4, work)


@check_both_sorts("wakeups.commit", "tx.atomic")
async def the_commit_of_the_callers_transaction_gives_the_hint(bench: Bench, begin: Begin) -> None:
    listener = await bench.handle()
    async with _listening(bench, listener) as ear:
        async with begin(bench) as caller:
            await caller.enqueue([bench.new()])
            await ear.quiet()

        await ear.hint("a hint given before the commit does not count: one follows the commit")

    expect(len(await bench.claim(store=listener))).equals(1, "and what it hints at is there")


@check_both_sorts("wakeups.commit", "tx.atomic")
async def a_job_whose_time_came_before_the_commit_is_hinted_at_too(bench: Bench, begin: Begin) -> None:
    listener = await bench.handle()
    async with _listening(bench, listener) as ear:
        async with begin(bench) as caller:
            await caller.enqueue([bench.new(run_at=bench.short)])
            await bench.pass_time(bench.short)
            await ear.quiet()

        await ear.hint("a job whose time came before the commit owes a hint too")

    expect(len(await bench.claim(store=listener))).equals(1, "and what it hints at is there")


@check("wakeups.recover", needs=PushCapableStore, given="cut")
async def a_dropped_connection_is_remade_and_then_one_hint_is_given(bench: Bench) -> None:
    async with _listening(bench, bench.store) as ear:
        await bench.cut_connections()

        await ear.hint("a dropped connection is noticed and remade, and then one hint is given")
        await ear.quiet()
        other = await bench.handle()
        await other.enqueue([bench.new()])
        await ear.hint("and the subscription goes on")
