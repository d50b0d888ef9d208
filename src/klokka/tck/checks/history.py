"""Histories of callers at once, recorded and judged; verbs are cancelled, and connections cut where that can be done."""

from collections.abc import AsyncGenerator, Callable
from typing import Any, Final

from klokka.spi.keys import IdempotencyStore, LeaseStore
from klokka.spi.query import QueryableStore
from klokka.tck.bench import HOUR, Bench
from klokka.tck.check import check
from klokka.tck.history.callers import Ground, JobCaller, KeyCaller, LeaseCaller, ScheduleCaller
from klokka.tck.history.jobs import job_events, job_object
from klokka.tck.history.keys import KEY, key_events
from klokka.tck.history.names import name_events, name_object
from klokka.tck.history.rounds import judge_all, judge_ids, judge_runs, look_at_the_end, play
from klokka.tck.history.schedules import schedule_events, schedule_object

ROUNDS: Final = 3
STEPS: Final = 25


@check(
    "claim.exclusive",
    "claim.attempt",
    "claim.lapses",
    "claim.fence",
    "enqueue.ids",
    "enqueue.unique-race",
    "enqueue.unique-life",
    "heartbeat.held",
    "transition.once",
    "transition.cas",
    "transition.fence",
    "transition.reopen",
    "life.cancel",
    "life.isolation",
    needs=QueryableStore,
    layer="history",
)
async def every_job_and_key_has_an_order_in_which_all_answers_are_right(bench: Bench) -> None:
    async for ground in _rounds(bench, JobCaller):
        await look_at_the_end(ground)
        operations = ground.history.operations
        judge_ids(operations)
        judge_all(ground, job_object(ground.moments(), exact=ground.exact), job_events(operations), "job")
        judge_all(ground, KEY, key_events(operations), "unique key")


@check(
    "schedule.due",
    "schedule.complete",
    "schedule.fence",
    "schedule.crash",
    "schedule.upsert-changed",
    "life.cancel",
    layer="history",
)
async def every_schedule_has_an_order_in_which_all_answers_are_right(bench: Bench) -> None:
    async for ground in _rounds(bench, ScheduleCaller):
        operations = ground.history.operations
        sort = schedule_object(ground.moments(), exact=ground.exact)
        judge_all(ground, sort, schedule_events(operations), "schedule")
        runs = await ground.bench.claim(limit=10_000, lease=HOUR)
        judge_runs(ground, [run.payload for run in runs])


@check("key.once", "key.owner", "life.cancel", needs=IdempotencyStore, layer="history")
async def every_idempotency_key_has_an_order_in_which_all_answers_are_right(bench: Bench) -> None:
    async for ground in _rounds(bench, KeyCaller):
        judge_all(ground, name_object(ground.moments()), name_events(ground.history.operations), "key")


@check("lease.one", "lease.cursor", "life.cancel", needs=LeaseStore, layer="history")
async def every_lease_has_an_order_in_which_all_answers_are_right(bench: Bench) -> None:
    async for ground in _rounds(bench, LeaseCaller):
        judge_all(ground, name_object(ground.moments()), name_events(ground.history.operations), "lease")


async def _rounds(bench: Bench, caller: Callable[..., Any]) -> AsyncGenerator[Ground]:
    """Some rounds, each on fresh data and with a seed of its own."""
    for number in range(ROUNDS):
        async with bench.fresh(bench.seed + number) as fresh:
            yield await play(fresh, caller, steps=STEPS)
