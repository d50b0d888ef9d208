"""Expecting success within a time: reported once per staleness, by one replica."""

from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from klokka.core.clocks import ManualClock
from klokka.core.ids import WorkerId
from klokka.core.records import JobQuery, NewJob
from klokka.core.states import Running, Succeeded
from klokka.recurring import Stale, StoreHistory, SuccessWatch
from klokka.stores.memory.store import MemoryStore

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


class Watched:
    """A store with a clock, and watches that write into one list."""

    def __init__(self, store: MemoryStore, clock: ManualClock) -> None:
        self.store = store
        self.clock = clock
        self.reports: list[Stale] = []

    def watch(self) -> SuccessWatch:
        watch = SuccessWatch(StoreHistory(self.store), self.store, self.reports.append)
        watch.expect_success("backup", within=2 * HOUR)
        return watch

    async def succeed(self) -> None:
        await self.store.enqueue([NewJob(kind="backup", payload="{}")])
        (job,) = await self.store.claim(queues=["default"], kinds=["backup"], limit=1, lease=HOUR, worker=WorkerId("w"))
        await self.store.transition(job.id, from_=Running(), to=Succeeded(), fence=job.fence)


@pytest.fixture
async def watched() -> AsyncGenerator[Watched]:
    clock = ManualClock(NOON)
    store = MemoryStore(clock=clock)
    await store.open()
    yield Watched(store, clock)
    await store.close()


async def test_a_job_type_is_reported_once_when_its_success_is_too_long_ago(watched: Watched) -> None:
    watch = watched.watch()
    await watched.succeed()

    for hours in range(6):
        await watch(NOON + hours * HOUR)

    assert watched.reports == [Stale(kind="backup", within=2 * HOUR, last_success=NOON)]


async def test_a_new_success_ends_the_staleness_and_the_next_one_is_reported_again(watched: Watched) -> None:
    watch = watched.watch()
    await watched.succeed()
    await watch(NOON + 3 * HOUR)
    watched.clock.advance(hours=4)
    await watched.succeed()

    await watch(NOON + 5 * HOUR)
    assert len(watched.reports) == 1
    await watch(NOON + 7 * HOUR)

    assert [report.last_success for report in watched.reports] == [NOON, NOON + 4 * HOUR]


@pytest.mark.parametrize("ever", [True, False], ids=["after a success", "without any"])
async def test_a_staleness_of_months_is_reported_once_though_the_history_forgets(watched: Watched, ever: bool) -> None:
    watch = watched.watch()
    if ever:
        await watched.succeed()
    await watch(NOON)

    for day in range(1, 90):
        watched.clock.advance(days=1)
        if day == 30:
            for job in await watched.store.list_jobs(JobQuery(kind="backup")):
                await watched.store.delete(job.id)
        await watch(NOON + timedelta(days=day))

    assert [report.last_success for report in watched.reports] == [NOON if ever else None]


async def test_the_replica_that_takes_over_does_not_report_it_again(watched: Watched) -> None:
    await watched.succeed()

    await watched.watch()(NOON + 3 * HOUR)
    await watched.watch()(NOON + 4 * HOUR)

    assert len(watched.reports) == 1


async def test_one_that_never_succeeded_counts_from_the_first_look(watched: Watched) -> None:
    watch = watched.watch()

    await watch(NOON)
    await watch(NOON + 2 * HOUR)
    assert watched.reports == []
    await watch(NOON + 2 * HOUR + timedelta(seconds=1))

    assert watched.reports == [Stale(kind="backup", within=2 * HOUR, last_success=None)]


async def test_a_report_that_fails_is_tried_again(watched: Watched) -> None:
    failures: list[Any] = [RuntimeError("no pager")]
    told: list[Stale] = []

    async def report(stale: Stale) -> None:
        if failures:
            raise failures.pop()
        told.append(stale)

    watch = SuccessWatch(StoreHistory(watched.store), watched.store, report)
    watch.expect_success("backup", within=HOUR)
    await watch(NOON)

    with pytest.raises(RuntimeError):
        await watch(NOON + 2 * HOUR)
    await watch(NOON + 2 * HOUR)

    assert len(told) == 1
