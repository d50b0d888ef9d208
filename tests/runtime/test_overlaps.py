"""Runs that may not overlap: the next is booked when the last one ends, and no tick opens a dead window."""

from datetime import timedelta
from typing import Any

import pytest

from klokka.core.events import Misfired
from klokka.core.ids import WorkerId
from klokka.core.states import Running, Succeeded
from klokka.errors import UnsupportedByStore
from klokka.runtime.bus import EventBus
from klokka.runtime.worker import Worker
from klokka.schedules.interval import every
from klokka.schedules.misfire import CatchUp, Skip
from tests.support.ticking import MINUTE, NOON, Fleet, fleet, recurrence
from tests.support.working import settings

HOURLY = every(timedelta(hours=1))


async def started(nodes: Fleet) -> Any:
    """The next run, claimed for long."""
    (job,) = await nodes.store.claim(
        queues=["default"], kinds=["work"], limit=1, lease=timedelta(days=1), worker=WorkerId("slow")
    )
    return job


async def ended(nodes: Fleet, job: Any) -> None:
    assert await nodes.store.transition(job.id, from_=Running(), to=Succeeded(), fence=job.fence)


@pytest.mark.parametrize("misfire", [None, Skip()], ids=["once", "skip"])
async def test_a_job_longer_than_its_period_is_followed_by_the_next_when_it_ends(misfire: Any) -> None:
    nodes = await fleet()
    policy = {} if misfire is None else {"misfire": misfire}
    ticker = await nodes.node(recurrence(schedule=HOURLY, overlap=False, **policy))
    nodes.clock.advance(hours=1)
    await ticker.tick()
    job = await started(nodes)

    nodes.clock.advance(hours=1)
    await ticker.tick()
    nodes.clock.advance(minutes=5)
    await ticker.tick()
    assert len(await nodes.ticks()) == 1
    await ended(nodes, job)
    await ticker.tick()

    assert await nodes.ticks() == [NOON + timedelta(hours=hour) for hour in (1, 2)]
    assert (await nodes.row()).next_fire_at == NOON + timedelta(hours=3)


async def test_ticks_that_came_while_the_last_run_went_on_are_one() -> None:
    nodes = await fleet()
    ticker = await nodes.node(recurrence(overlap=False))
    events: list[Misfired] = []
    nodes.bus.on(Misfired, events.append)
    nodes.clock.advance(minutes=1)
    await ticker.tick()
    job = await started(nodes)

    for _ in range(6):
        nodes.clock.advance(seconds=30)
        await ticker.tick()
    await ended(nodes, job)
    await ticker.tick()
    await nodes.bus.flush(5)

    assert await nodes.ticks() == [NOON + MINUTE, NOON + 4 * MINUTE]
    assert [event.missed for event in events] == [2]


async def test_another_node_goes_on_where_the_one_that_waited_has_died() -> None:
    nodes = await fleet()
    first = await nodes.node(recurrence(overlap=False))
    nodes.clock.advance(minutes=1)
    await first.tick()
    job = await started(nodes)
    nodes.clock.advance(minutes=1)
    await first.tick()

    await ended(nodes, job)
    second = await nodes.node(recurrence(overlap=False))
    nodes.clock.advance(seconds=10)
    await second.tick()

    assert await nodes.ticks() == [NOON + MINUTE, NOON + 2 * MINUTE]
    assert await first.tick() == []


async def test_what_is_caught_up_runs_one_after_the_other() -> None:
    nodes = await fleet()
    ticker = await nodes.node(recurrence(overlap=False, misfire=CatchUp(at_most=3)))

    nodes.clock.advance(minutes=10)
    seen = []
    for _ in range(5):
        await ticker.tick()
        seen.append(await nodes.finish())
        nodes.clock.advance(seconds=10)

    assert seen == [1, 1, 1, 0, 0]
    assert await nodes.ticks() == [NOON + timedelta(minutes=minute) for minute in (8, 9, 10)]


async def test_a_retry_that_waits_keeps_the_next_run_back() -> None:
    nodes = await fleet()
    ticker = await nodes.node(recurrence(overlap=False))
    nodes.clock.advance(minutes=1)
    (run,) = await ticker.tick()

    nodes.clock.advance(minutes=1)
    assert await ticker.tick() == []
    await nodes.store.cancel(run)
    assert len(await ticker.tick()) == 1


async def test_a_store_that_cannot_show_runs_is_refused_when_the_worker_is_made() -> None:
    class Blind:
        def __init__(self, nodes: Fleet) -> None:
            self.traits = nodes.store.traits

    nodes = await fleet()
    blind: Any = Blind(nodes)

    with pytest.raises(UnsupportedByStore, match="overlap=False"):
        Worker(blind, {}, settings(), events=EventBus(), schedules=[recurrence(overlap=False)])
