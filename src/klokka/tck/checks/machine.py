"""Random scripts of verbs against the model, made short where one breaks a clause."""

from datetime import timedelta
from typing import Final

from klokka.tck.bench import Bench
from klokka.tck.capabilities import Lacking, SchedulingStore
from klokka.tck.check import check

JOBS: Final = (
    "claim.exclusive",
    "claim.due",
    "claim.expired",
    "claim.order",
    "claim.queue-order",
    "claim.kinds",
    "claim.kinds-empty",
    "claim.limit",
    "claim.caps",
    "claim.exact",
    "claim.attempt",
    "claim.lapses",
    "claim.fence",
    "claim.lease",
    "claim.scheduled-for",
    "claim.next-due",
    "enqueue.order",
    "enqueue.ids",
    "enqueue.state",
    "enqueue.unique",
    "enqueue.unique-batch",
    "enqueue.unique-life",
    "heartbeat.extends",
    "heartbeat.held",
    "heartbeat.quiet",
    "transition.cas",
    "transition.fence",
    "transition.any-edge",
    "transition.times",
    "transition.refund",
    "transition.restart",
    "transition.reopen",
    "sweep.retention",
    "sweep.bounded",
    "life.errors",
)
SCHEDULES: Final = (
    "schedule.upsert-new",
    "schedule.upsert-same",
    "schedule.upsert-changed",
    "schedule.upsert-last",
    "schedule.upsert-keeps",
    "schedule.due",
    "schedule.complete",
    "schedule.fence",
    "schedule.crash",
)
PLAYS: Final = 100
STEPS: Final = 25
SHRINKS: Final = 200
"""Further plays in which a failure is made shorter."""
WITHIN: Final = timedelta(seconds=25)
"""For the plays, and once more for making a failure shorter. Numbers decide, so that a seed means the same everywhere;
this is for machines that are slow beyond use."""


@check(*JOBS, given="advance", layer="machine")
async def scripts_of_jobs_go_as_the_model_says(bench: Bench) -> None:
    await _hunt(bench, "JobPlay")


@check(*SCHEDULES, needs=SchedulingStore, given="advance", layer="machine")
async def scripts_of_schedules_go_as_the_model_says(bench: Bench) -> None:
    await _hunt(bench, "ScheduleSteps")


@check(
    "key.once", "key.owner", "key.atomic", "lease.one", "lease.cursor", "fleet.beat", given="advance", layer="machine"
)
async def scripts_of_names_go_as_the_model_says(bench: Bench) -> None:
    await _hunt(bench, "NameSteps")


@check(*JOBS, *SCHEDULES, needs=SchedulingStore, given="advance", layer="machine")
async def scripts_of_any_verbs_go_as_the_model_says(bench: Bench) -> None:
    await _hunt(bench, "FullPlay")


async def _hunt(bench: Bench, sort: str) -> None:
    try:
        from klokka.tck.machine import hunting, plays
    except ImportError as error:
        raise Lacking("Hypothesis is not installed; it comes with `klokka[tck]`") from error
    await hunting.hunt(bench, getattr(plays, sort), plays=PLAYS, steps=STEPS, shrinks=SHRINKS, within=WITHIN)
