"""Real processes on one store: killed and stopped in the middle of verbs, or with clocks that are hours off."""

import time
from dataclasses import replace
from datetime import timedelta
from random import Random
from typing import Final

from klokka.core.ids import JobId
from klokka.core.records import JobDetails, JobQuery
from klokka.spi.query import QueryableStore
from klokka.spi.store import JobStore
from klokka.tck.bench import KIND, OTHER_WORKER, QUEUE, Bench
from klokka.tck.check import check
from klokka.tck.crowds import in_thread
from klokka.tck.processes.deeds import deeds_of
from klokka.tck.processes.judgement import judge_batches, judge_claims, judge_settlements, judge_waits
from klokka.tck.processes.roles import Orders
from klokka.tck.processes.troupe import Actor, Troupe
from klokka.tck.violations import expect

LEASE: Final = timedelta(milliseconds=700)
LONG: Final = timedelta(minutes=10)
HOURS: Final = 5 * 3600.0
CAST: Final = ("produce", "work", "work")
DEATHS: Final = 3


@check(
    "life.durable",
    "enqueue.atomic",
    "claim.exclusive",
    "claim.fence",
    "claim.expired",
    "claim.wait-free",
    "transition.fence",
    needs=QueryableStore,
    given="reopen",
    layer="process",
)
async def what_processes_were_told_is_true_though_they_are_killed_and_stopped(bench: Bench) -> None:
    reopen = bench.reopen
    troupe = Troupe(
        lambda role, number: Orders(reopen=reopen, role=role, name=f"{role}-{number}", seed=number, lease=LEASE)
    )
    try:
        await in_thread(lambda: _murder(troupe, Random(bench.seed)))
    finally:
        await in_thread(troupe.close)

    deeds = deeds_of(troupe.actors)
    stored = await _all_jobs(bench, reopen())
    judge_batches(deeds, stored)
    judge_claims(deeds, LEASE)
    judge_settlements(deeds, stored)
    bound = reopen().traits.bound + bench.subject.patience
    judge_waits(deeds, {actor.name: actor.stops for actor in troupe.actors}, bound)
    expect(sum(deed.verb == "claim" and bool(deed.answer) for deed in deeds)).above(0, "and jobs were claimed at all")


@check(
    "time.store-clock", "claim.lease", "claim.due", "heartbeat.held", given=("reopen", "server_clock"), layer="process"
)
async def clients_whose_clocks_are_hours_off_live_by_the_stores(bench: Bench) -> None:
    for skew in (HOURS, -HOURS):
        before = await bench.store.now()
        actor = await in_thread(lambda skew=skew: _skewed(bench, skew))  # type: ignore[misc]
        after = await bench.store.now()

        said = actor.lines[-1].said
        expect(sorted(said["claimed"]), "claim.due").equals(
            ["now", "retry"], "due-ness is decided by the store's clock"
        )
        expect(sorted(said["held"]), "heartbeat.held").equals(["now"], "a lease lasts by the store's clock")
        for at in said["enqueued_at"]:
            expect(at, "time.store-clock").within(
                before.timestamp() - 1,
                after.timestamp() + 1,
                "instants are the store's, wherever the caller's clock is",
            )
        next_due = await bench.store.next_due(queues=[QUEUE], kinds=[KIND])
        expect(next_due, "time.store-clock").within(
            before + LONG, after + LONG, "durations are added to the store's now: a later job, a retry and a lease"
        )
        again = await bench.claim(worker=OTHER_WORKER)
        expect([job.payload for job in again], "claim.lease").equals([], "and nothing is free before its time")
        for job in await bench.query.list_jobs(JobQuery()):
            await bench.operate.delete(job.id)


def _murder(troupe: Troupe, random: Random) -> None:
    """Kills and stops at random moments, each after its victim has said some more."""
    for role in CAST:
        troupe.enter(role)
    for death in range(DEATHS):
        role = random.choice(CAST) if death else "produce"
        victim = next(actor for actor in reversed(troupe.actors) if actor.name.startswith(role))
        victim.wait_for(len(victim.lines) + random.randint(5, 60))
        victim.kill()
        troupe.enter(role)
    still = next(actor for actor in reversed(troupe.actors) if actor.name.startswith("work"))
    still.wait_for(len(still.lines) + random.randint(5, 60))
    with still.stopped():
        time.sleep(1.5 * LEASE.total_seconds())  # its leases end meanwhile
    still.wait_for(len(still.lines) + 10)


def _skewed(bench: Bench, skew: float) -> Actor:
    orders = Orders(reopen=bench.reopen, role="skewed", name="skewed", seed=0, lease=LONG)
    actor = Actor(orders, skew=skew)
    try:
        actor.wait_for(2)
    finally:
        actor.close()
    return actor


async def _all_jobs(bench: Bench, store: JobStore) -> dict[JobId, JobDetails]:
    """Every job that is stored, read by the clock that the processes had."""
    reader = Bench(replace(bench.subject, store=store))
    await reader.open()
    try:
        found: dict[JobId, JobDetails] = {}
        before: JobId | None = None
        while page := await reader.query.list_jobs(JobQuery(before=before, limit=500)):
            for summary in page:
                found[summary.id] = await reader.details(summary.id)
            before = page[-1].id
        return found
    finally:
        await reader.close()
