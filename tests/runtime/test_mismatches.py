"""Workers with older and newer code side by side: each leaves the other's definition alone, and the newest decides."""

import logging
from datetime import timedelta

import pytest

from klokka.runtime import mismatches
from klokka.runtime.ticker import Ticker
from klokka.schedules.cron import cron
from klokka.schedules.interval import every
from tests.support.ticking import LEASE, MINUTE, NOON, Fleet, fleet, recurrence

OLD = recurrence(schedule=cron("*/5 * * * *"))
NEW = recurrence(schedule=cron("* * * * *"))


@pytest.fixture
def monotonic(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The clock by which a schedule is left alone, moved by hand."""
    clock = [0.0]
    monkeypatch.setattr(mismatches, "monotonic", lambda: clock[0])
    return clock


async def passes(nodes: Fleet, monotonic: list[float], ticker: Ticker, *, seconds: int) -> None:
    """Lets both clocks go on, with a look each second."""
    for _ in range(seconds):
        nodes.clock.advance(seconds=1)
        monotonic[0] += 1
        await ticker.tick()


async def test_a_fire_of_another_definition_is_left_to_its_owner(monotonic: list[float]) -> None:
    nodes = await fleet()
    old = await nodes.node(OLD)
    new = await nodes.node(NEW)

    nodes.clock.advance(minutes=1)
    assert await old.tick() == []
    nodes.clock.advance(seconds=LEASE.total_seconds())
    assert await old.tick() == []  # it does not claim it again
    assert len(await new.tick()) == 1

    assert await nodes.ticks() == [NOON + MINUTE]
    assert (await nodes.row()).fingerprint == NEW.fingerprint


async def test_a_definition_that_an_old_node_wrote_over_comes_back_with_the_newest_and_loses_no_tick(
    monotonic: list[float], caplog: pytest.LogCaptureFixture
) -> None:
    nodes = await fleet()
    new = await nodes.node(NEW)
    await nodes.node(OLD, beats=False)  # restarts in the middle of a deploy, and is gone at once
    caplog.set_level(logging.WARNING)

    await passes(nodes, monotonic, new, seconds=420)

    assert (await nodes.row()).fingerprint == NEW.fingerprint
    assert await nodes.ticks() == [NOON + timedelta(minutes=minute) for minute in (5, 6, 7)]
    assert sum("still defined otherwise" in record.getMessage() for record in caplog.records) == 1


async def test_a_node_that_is_not_the_newest_reports_it_once_and_leaves_the_row(
    monotonic: list[float], caplog: pytest.LogCaptureFixture
) -> None:
    nodes = await fleet()
    old = await nodes.node(OLD)
    nodes.clock.advance(seconds=1)
    await nodes.node(NEW)
    caplog.set_level(logging.WARNING)

    await passes(nodes, monotonic, old, seconds=300)

    assert (await nodes.row()).fingerprint == NEW.fingerprint
    assert await nodes.ticks() == []
    assert sum("A worker that started later decides" in record.getMessage() for record in caplog.records) == 1


async def test_other_schedules_of_the_node_go_on_meanwhile(monotonic: list[float]) -> None:
    nodes = await fleet()
    old = await nodes.node(OLD, recurrence("b", every(MINUTE)))
    await nodes.node(NEW)

    await passes(nodes, monotonic, old, seconds=180)

    assert len(await nodes.ticks("b")) == 3
