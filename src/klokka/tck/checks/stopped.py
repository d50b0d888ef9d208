"""Those who are stopped in the middle of a verb, and those who hold a job's row: how long others wait for them."""

import asyncio
import time
from collections.abc import Awaitable
from datetime import timedelta
from typing import Any, Final

from klokka.core.ids import JobId
from klokka.core.states import Cancelled, Running
from klokka.errors import Busy
from klokka.spi.operate import OperableStore
from klokka.spi.store import JobStore
from klokka.tck.bench import HOUR, KIND, OTHER_WORKER, WORKER, Bench
from klokka.tck.check import check
from klokka.tck.crowds import in_thread
from klokka.tck.processes.roles import STOPS, Orders
from klokka.tck.processes.troupe import Actor
from klokka.tck.violations import Violation, expect

LEASE: Final = timedelta(milliseconds=100)
BUSY: Final = "Busy"


@check("claim.wait-free", given="reopen", layer="process")
async def whoever_is_stopped_in_the_middle_of_a_claim_holds_up_nobody_for_long(bench: Bench) -> None:
    reopen = bench.reopen
    actor = None
    claimer, producer = reopen(), reopen()
    await claimer.open()
    await producer.open()
    try:
        for queue in range(STOPS + 1):
            await producer.enqueue([bench.new(queue=f"queue-{queue}") for _ in range(2)])
        orders = Orders(reopen=reopen, role="stops", name="stopped", seed=bench.seed, lease=LEASE)
        actor = await in_thread(lambda: Actor(orders))
        await _while_it_stops(bench, actor, claimer, producer)
    finally:
        if actor is not None:
            await in_thread(actor.close)
        await claimer.close()
        await producer.close()


@check("claim.wait-free", "claim.exact", given="lock")
async def a_claim_passes_over_a_job_that_somebody_else_has_locked(bench: Bench) -> None:
    (ended,) = await bench.enqueue_many(1)
    await bench.claim(lease=bench.short)
    await bench.pass_time(bench.short)
    due = await bench.enqueue_many(3)

    for locked, others in ((ended, due[:1]), (due[1], [ended, due[2]])):
        async with bench.locked(locked):
            claimed = await _bounded(bench, bench.claim(limit=len(others)))
        expect(claimed if claimed is BUSY else [job.id for job in claimed]).equals(
            others, "a claim waits for no job: one that is locked is passed over, and the next ones come"
        )

    expect(await bench.claimed_ids()).equals([due[1]], "once it is free it is a job like others")


@check("claim.wait-free", "enqueue.bounded", given="lock")
async def whoever_needs_a_locked_job_waits_for_no_longer_than_the_bound(bench: Bench) -> None:
    job = await bench.claimed()

    async def cancel(store: JobStore, job: JobId) -> bool:
        if isinstance(store, OperableStore):
            return await store.cancel(job)
        return await store.transition(job, from_=Running(), to=Cancelled())

    async with bench.locked(job.id):
        answers = await asyncio.gather(
            _bounded(bench, (await bench.handle()).heartbeat({job.id: job.fence}, worker=WORKER, extend=2 * HOUR)),
            _bounded(
                bench, (await bench.handle()).transition(job.id, from_=Running(), to=Cancelled(), fence=job.fence)
            ),
            _bounded(bench, cancel(await bench.handle(), job.id)),
        )

    expect(answers).equals([BUSY] * len(answers), "the wait ends with a typed error that may be retried")
    held = await bench.store.heartbeat({job.id: job.fence}, worker=WORKER, extend=HOUR)
    expect(held).equals({job.id}, "and whoever gave up has changed nothing")


async def _while_it_stops(bench: Bench, actor: Actor, claimer: JobStore, producer: JobStore) -> None:
    heard = 1  # that it is ready
    for part in range(STOPS):
        heard += 1
        await in_thread(lambda lines=heard: actor.wait_for(lines))  # type: ignore[misc]
        if actor.lines[heard - 1].what != "stops":
            continue  # it came through before the step at which it was to stop
        standing = actor.stopped(by_itself=True)
        await in_thread(standing.__enter__)
        try:
            new = bench.new(queue="others")
            await asyncio.gather(
                _bounded(bench, producer.enqueue([new])), _all_come(bench, claimer, f"queue-{part}", number=2)
            )
        finally:
            standing.__exit__(None, None, None)
        heard += 1
        await in_thread(lambda lines=heard: actor.wait_for(lines))  # type: ignore[misc]


async def _all_come(bench: Bench, store: JobStore, queue: str, *, number: int) -> None:
    """All jobs of the queue can be claimed by others while one who claims there stands still, or he has the one
    writer's place."""
    until = time.monotonic() + _most(bench) + LEASE.total_seconds()
    seen: set[JobId] = set()
    while len(seen) < number:
        claim = store.claim(queues=[queue], kinds=[KIND], limit=number, lease=HOUR, worker=OTHER_WORKER)
        claimed = await _bounded(bench, claim)
        if claimed is BUSY:
            return
        seen |= {job.id for job in claimed}
        if len(seen) < number and time.monotonic() > until:
            raise Violation(
                "a claimer that is stopped inside a verb hides its rows for at most the store's bound",
                seen=f"{len(seen)} of {number} jobs of its queue, and its lease is over",
                expected="all of them",
            )
        await asyncio.sleep(0 if len(seen) == number else 0.01)


async def _bounded(bench: Bench, act: Awaitable[Any]) -> Any:
    """The answer of a verb, or that it was `Busy`, within the store's bound."""
    try:
        async with asyncio.timeout(_most(bench)):
            return await act
    except Busy:
        return BUSY
    except TimeoutError:
        raise Violation(
            "whoever is stopped inside of a verb holds up others for no longer than the store's bound",
            seen=f"no answer after {_most(bench):g} s",
            expected=f"an answer, or Busy after {bench.store.traits.bound}",
        ) from None


def _most(bench: Bench) -> float:
    return (bench.store.traits.bound + bench.subject.patience).total_seconds()
