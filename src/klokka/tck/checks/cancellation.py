"""Every verb cancelled at every await that it has, one after the other, until it comes to its end."""

import asyncio
import time
from typing import Any, Final

from klokka.core.states import Succeeded
from klokka.spi.keys import EnqueueOnceStore
from klokka.spi.query import QueryableStore
from klokka.spi.store import JobStore
from klokka.tck.bench import Bench
from klokka.tck.cancellation import Interrupted, Swallowed, cancelled_at
from klokka.tck.cancelled_verbs import CASES, Case, shape
from klokka.tck.check import check
from klokka.tck.violations import Violation, expect

MOST: Final = 40
"""Awaits of one verb that are tried."""


@check("life.cancel", "enqueue.atomic", "schedule.complete", needs=QueryableStore, layer="cancellation")
async def a_verb_cancelled_at_any_await_happened_whole_or_not_at_all(bench: Bench) -> None:
    for case in CASES:
        if isinstance(bench.store, case.needs):
            await _try(bench, case)


@check("life.cancel", "key.atomic", needs=(QueryableStore, EnqueueOnceStore), layer="cancellation")
async def a_cancelled_enqueue_once_leaves_key_and_job_or_neither(bench: Bench) -> None:
    for number in range(2 * MOST):
        tag = f"once-{number}"
        store = await bench.handle()
        act = _once(bench, store, tag)
        try:
            await cancelled_at(act, number // 2, late=number % 2 == 1)
            ended = True
        except Interrupted:
            ended = False
        await store.close()
        again = await _once(bench, bench.store, tag)
        jobs = await bench.claim(queues=[tag])
        expect(len(jobs), "key.atomic", "life.cancel").equals(1, f"one of two callers of a key stores the job; {again}")
        if ended:
            break


async def _try(bench: Bench, case: Case) -> None:
    """Cancels the verb at its first await, at its second, and so on, early and late."""
    act = await case.arrange(bench, f"{case.verb}-whole")
    before = await shape(bench, bench.store, f"{case.verb}-whole")
    await act(bench.store)
    after = await shape(bench, bench.store, f"{case.verb}-whole")
    other = await bench.handle()
    for late in (False, True):
        for wait in range(MOST):
            tag = f"{case.verb}-{wait}-{'late' if late else 'early'}"
            act = await case.arrange(bench, tag)
            try:
                await cancelled_at(act(bench.store), wait, late=late)
                ended = True
            except Interrupted:
                ended = False
            except Swallowed:
                raise Violation(
                    f"{case.verb} cancelled at its wait {wait + 1} ends with the cancellation",
                    seen="an answer",
                    expected="CancelledError",
                    clauses=("life.cancel",),
                ) from None
            await _expect_usable(bench, other, tag, case.verb)
            if case.whole:
                await _expect_whole(bench, other, tag, (before, after), f"{case.verb} cancelled at its wait {wait + 1}")
            if ended:
                break


async def _expect_usable(bench: Bench, other: JobStore, tag: str, verb: str) -> None:
    """Both handles work: the one whose verb was cancelled, and the other."""
    patience = (bench.store.traits.bound + bench.subject.patience).total_seconds()
    try:
        async with asyncio.timeout(patience):
            made = await bench.store.enqueue([bench.new(queue=f"{tag}-probe") for _ in range(2)])
            for store, result in zip((bench.store, other), made, strict=True):
                claimed = await bench.claim(queues=[f"{tag}-probe"], limit=1, store=store)
                expect([job.id for job in claimed], "life.cancel").equals(
                    [result.id], f"a cancelled {verb} leaves all usable"
                )
                await bench.settle(claimed[0], Succeeded())
    except TimeoutError:
        raise Violation(
            f"a cancelled {verb} leaves the store usable",
            seen="a verb that hangs",
            expected="an answer",
            clauses=("life.cancel",),
        ) from None


async def _expect_whole(bench: Bench, other: JobStore, tag: str, allowed: tuple[Any, Any], what: str) -> None:
    """What another handle sees is as before or as after; a verb that was under way may need a moment."""
    until = time.monotonic() + min(1.0, bench.subject.patience.total_seconds())
    seen = await shape(bench, other, tag)
    while seen not in allowed and time.monotonic() < until:
        await asyncio.sleep(0.01)
        seen = await shape(bench, other, tag)
    expect(seen, "life.cancel").is_in(allowed, f"{what} happened whole or not at all")


def _once(bench: Bench, store: Any, tag: str) -> Any:
    return store.enqueue_once(bench.new(queue=tag), scope="scope", key=tag, ttl=bench.short)
