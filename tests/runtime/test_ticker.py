"""Firing: each tick once for the fleet, whatever nodes, clocks, deploys and calendars do."""

import asyncio
import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from klokka import runtime, schedules
from klokka.core.events import Enqueued, Fired, Misfired
from klokka.core.ids import ScheduleId
from klokka.core.records import NewJob
from klokka.errors import InvalidInput, StoreUnavailable
from klokka.runtime.agenda import Agenda
from klokka.runtime.complaints import Complaints
from klokka.runtime.recurrence import Recurrence
from klokka.schedules.calendars import last_business_day, weekly
from klokka.schedules.cron import cron
from klokka.schedules.interval import every
from klokka.schedules.misfire import CatchUp, Skip
from klokka.schedules.weekdays import MON
from tests.support.ticking import MINUTE, NOON, fleet, recurrence

SECOND = timedelta(seconds=1)


@dataclass(frozen=True)
class BrokenCalendar:
    """A user's calendar, whose server is down when `broken`."""

    broken: list[bool]
    id: str = "broken"

    def is_holiday(self, day: date, /) -> bool:
        if self.broken:
            raise ConnectionError("the calendar's server is down")
        return False


@dataclass(frozen=True)
class WallClock:
    """A schedule that somebody wrote without a store in mind."""

    tick: Any
    words: str = "now and then"
    zone: str = "UTC"

    def next(self, after: datetime) -> Any:
        return self.tick

    def prev(self, before: datetime) -> Any:
        return self.tick

    def ticks(self, after: datetime) -> Any:
        return iter([self.tick])

    def describe(self) -> str:
        return self.words

    def canonical(self) -> str:
        return "a clock on the wall"

    def note(self, tick: datetime) -> None: ...


def heard(nodes: Any, event: type) -> list[Any]:
    """What was told of this class before now and is told from now on."""
    events: list[Any] = []
    nodes.bus.on(event, events.append)
    return events


async def test_three_nodes_that_tick_at_once_for_weeks_fire_each_tick_once() -> None:
    nodes = await fleet()
    tickers = [await nodes.node(recurrence(schedule=every(timedelta(hours=1)))) for _ in range(3)]

    for _ in range(24 * 14):
        nodes.clock.advance(hours=1)
        await asyncio.gather(*(ticker.tick() for ticker in tickers))

    ticks = await nodes.ticks()
    assert len(ticks) == 24 * 14
    assert all(after - before == timedelta(hours=1) for before, after in pairwise(ticks))


async def test_a_tick_between_the_end_of_one_node_and_the_start_of_the_next_fires() -> None:
    nodes = await fleet(NOON.replace(hour=9, minute=59, second=57))
    daily_at_ten = recurrence(schedule=cron("0 10 * * *"))
    await nodes.node(daily_at_ten)

    nodes.clock.advance(seconds=3.7)
    await nodes.node(daily_at_ten)

    assert await nodes.ticks() == [NOON.replace(hour=10)]


async def test_a_worker_that_restarts_more_often_than_the_interval_still_fires_weekly() -> None:
    nodes = await fleet()
    schedule = weekly(MON, at="09:00")

    for _ in range(4 * 7 * 8):
        nodes.clock.advance(hours=3)
        await nodes.node(recurrence(schedule=schedule), beats=False)

    assert await nodes.ticks() == [datetime(2026, 3, day, 9, tzinfo=UTC) for day in (9, 16, 23, 30)]


async def test_a_machine_that_was_off_for_two_weeks_gets_one_run_and_the_count_of_the_missed() -> None:
    nodes = await fleet()
    ticker = await nodes.node(recurrence(schedule=every(timedelta(seconds=15))))
    misfires = heard(nodes, Misfired)

    nodes.clock.advance(days=14)
    await ticker.tick()
    await ticker.tick()
    await nodes.bus.flush(5)

    assert await nodes.ticks() == [NOON + timedelta(days=14)]
    assert misfires == [Misfired(schedule=ScheduleId("a"), kind="work", missed=1000, at_least=True)]


async def test_catching_up_gives_a_run_for_each_of_the_last_ticks_in_order() -> None:
    nodes = await fleet()
    ticker = await nodes.node(recurrence(misfire=CatchUp(at_most=3)))

    nodes.clock.advance(minutes=10)
    await ticker.tick()

    assert await nodes.ticks() == [NOON + timedelta(minutes=minute) for minute in (8, 9, 10)]


async def test_catching_up_after_long_goes_by_bounded_transactions_in_one_pass() -> None:
    nodes = await fleet()
    ticker = await nodes.node(recurrence(misfire=CatchUp(at_most=2500)))
    misfires = heard(nodes, Misfired)
    steps: list[int] = []
    complete = nodes.store.complete_fire

    async def counted(id: ScheduleId, **fire: Any) -> Any:
        steps.append(len(fire["runs"]))
        return await complete(id, **fire)

    nodes.store.complete_fire = counted  # type: ignore[method-assign]
    nodes.clock.advance(minutes=3000)
    await ticker.tick()
    await nodes.bus.flush(5)

    assert steps == [1000, 1000, 500]
    assert await nodes.ticks() == [NOON + timedelta(minutes=minute) for minute in range(501, 3001)]
    assert [event.missed for event in misfires] == [500]
    assert (await nodes.row()).next_fire_at == NOON + timedelta(minutes=3001)


async def test_what_is_skipped_is_told_and_gets_no_run() -> None:
    nodes = await fleet()
    ticker = await nodes.node(recurrence(misfire=Skip(threshold=SECOND)))
    misfires = heard(nodes, Misfired)

    nodes.clock.advance(minutes=2, seconds=30)
    await ticker.tick()
    nodes.clock.advance(seconds=31)
    await ticker.tick()
    await nodes.bus.flush(5)

    assert await nodes.ticks() == [NOON + 3 * MINUTE]
    assert [(event.missed, event.at_least) for event in misfires] == [(2, False)]


async def test_the_same_definition_at_every_boot_writes_nothing() -> None:
    nodes = await fleet()
    await nodes.node(recurrence(schedule=cron("0 9 * * 1-5")))
    before = await nodes.row()

    nodes.clock.advance(minutes=5)
    await nodes.node(recurrence(schedule=cron("0 9  * * MON-FRI")))

    assert await nodes.row() == before


async def test_an_edited_cron_text_is_computed_anew_at_once_and_fires_nothing_of_the_past() -> None:
    nodes = await fleet()
    await nodes.node(recurrence(schedule=cron("0 18 * * *")))

    ticker = await nodes.node(recurrence(schedule=cron("0 9 * * *")))

    assert (await nodes.row()).next_fire_at == NOON.replace(day=3, hour=9)
    await ticker.tick()
    assert await nodes.ticks() == []


async def test_a_calendar_that_fails_stops_no_other_schedule_and_fires_when_it_works_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    nodes = await fleet(datetime(2026, 3, 31, 8, tzinfo=UTC))
    calendar = BrokenCalendar([True])
    broken = recurrence("broken", last_business_day(at="09:00", holidays=calendar))
    ticker = await nodes.node(broken, recurrence())

    nodes.clock.advance(minutes=1)
    await ticker.tick()
    assert [len(await nodes.ticks(each)) for each in ("a", "broken")] == [1, 0]

    calendar.broken.clear()
    await ticker.tick()
    calendar.broken.append(True)
    nodes.clock.advance(hours=1)
    await ticker.tick()
    assert [len(await nodes.ticks(each)) for each in ("a", "broken")] == [2, 0]

    calendar.broken.clear()
    nodes.clock.advance(seconds=10)  # the lease of the fire that failed
    await ticker.tick()
    assert await nodes.ticks("broken") == [datetime(2026, 3, 31, 9, tzinfo=UTC)]
    said = [record for record in caplog.records if "schedule broken fails" in record.getMessage()]
    assert len(said) == 2


@pytest.mark.parametrize(
    "broken",
    [WallClock(NOON.replace(tzinfo=None)), WallClock("noon"), WallClock(NOON + SECOND, words="at \0 o'clock")],
    ids=["a naive tick", "a tick as text", "words that no store keeps"],
)
async def test_a_schedule_of_a_users_own_that_gives_nonsense_stops_no_other(
    broken: Any, caplog: pytest.LogCaptureFixture
) -> None:
    nodes = await fleet()
    recurrences = {each.id: each for each in (recurrence("broken", broken), recurrence())}
    ticker = await nodes.node(*recurrences.values())

    nodes.clock.advance(minutes=1)
    await ticker.tick()

    assert len(await nodes.ticks()) == 1
    assert Agenda(recurrences, Complaints()).wait(NOON) in (1, 60)
    assert "schedule broken fails at computing its first tick; the others go on" in caplog.text


async def test_runs_that_the_store_refuses_stop_no_other_schedule(caplog: pytest.LogCaptureFixture) -> None:
    nodes = await fleet()
    too_large = Recurrence(
        id=ScheduleId("large"), schedule=every(MINUTE), request=NewJob(kind="work", payload=" " * 2_000_000)
    )
    ticker = await nodes.node(too_large, recurrence())

    nodes.clock.advance(minutes=1)
    await ticker.tick()

    assert [len(await nodes.ticks(each)) for each in ("a", "large")] == [1, 0]
    assert "schedule large fails at storing its runs" in caplog.text


async def test_a_minutely_schedule_goes_on_through_the_repeated_hour_and_one_at_half_past_one_fires_once() -> None:
    nodes = await fleet(datetime(2026, 11, 1, 4, 59, 30, tzinfo=UTC))
    minutely = recurrence(schedule=cron("* * * * *", zone="America/New_York"))
    fixed = recurrence("fixed", cron("30 1 * * *", zone="America/New_York"))
    ticker = await nodes.node(minutely, fixed)

    for _ in range(3 * 60):
        nodes.clock.advance(minutes=1)
        await ticker.tick()

    assert len(await nodes.ticks()) == 3 * 60
    assert await nodes.ticks("fixed") == [datetime(2026, 11, 1, 5, 30, tzinfo=UTC)]


async def test_a_clock_that_steps_back_repeats_no_tick_and_loses_none() -> None:
    nodes = await fleet()
    ticker = await nodes.node(recurrence())

    for step in (MINUTE, MINUTE, -timedelta(hours=1), timedelta(minutes=30), timedelta(minutes=30), MINUTE, MINUTE):
        nodes.clock.advance(step)
        await ticker.tick()

    assert await nodes.ticks() == [NOON + timedelta(minutes=minute) for minute in (1, 2, 3, 4)]


def test_no_duty_of_the_runtime_reads_the_clock_of_its_node() -> None:
    reading = re.compile(r"datetime\.(now|utcnow|today)\(|\btime\.time(_ns)?\(")
    rooms = Path(runtime.__file__).parent, Path(schedules.__file__).parent

    found = [file.name for room in rooms for file in room.glob("*.py") if reading.search(file.read_text())]

    assert found == []


async def test_an_old_node_leaves_a_new_schedule_and_its_runs_alone() -> None:
    nodes = await fleet()
    old = await nodes.node(recurrence())
    new = await nodes.node(recurrence(), recurrence("new", kind="new.work"))

    nodes.clock.advance(minutes=1)
    await old.tick()
    assert await nodes.ticks("new") == []
    await new.tick()

    assert [len(await nodes.ticks(each)) for each in ("a", "new")] == [1, 1]


async def test_a_schedule_removed_from_the_code_keeps_its_row_and_fires_no_more() -> None:
    nodes = await fleet()
    await nodes.node(recurrence("gone"), recurrence())
    before = await nodes.row("gone")

    nodes.clock.advance(minutes=1)
    await nodes.node(recurrence())

    assert await nodes.row("gone") == before
    assert [len(await nodes.ticks(each)) for each in ("a", "gone")] == [1, 0]


async def test_two_schedules_with_the_same_cron_and_kind_give_two_runs() -> None:
    nodes = await fleet()
    ticker = await nodes.node(recurrence("a"), recurrence("b"))

    nodes.clock.advance(minutes=1)
    await ticker.tick()

    assert await nodes.ticks("a") == await nodes.ticks("b") == [NOON + MINUTE]


async def test_a_run_carries_its_schedule_its_tick_and_a_key_of_both() -> None:
    nodes = await fleet()
    ticker = await nodes.node(recurrence())
    told = heard(nodes, Fired), heard(nodes, Enqueued)

    nodes.clock.advance(minutes=1, seconds=5)
    (run,) = await ticker.tick()
    await nodes.bus.flush(5)

    job = await nodes.store.get_job(run)
    assert job is not None
    assert (job.summary.schedule_id, job.scheduled_for) == ("a", NOON + MINUTE)
    assert job.unique_key == "schedule:a:2026-03-02T12:01:00Z"
    assert [(event.schedule, event.scheduled_for, event.id) for event in told[0]] == [("a", NOON + MINUTE, run)]
    assert [event.id for event in told[1]] == [run]


async def test_a_fire_whose_node_died_is_fired_by_another_when_its_lease_ends() -> None:
    nodes = await fleet()
    dying, other = await nodes.node(recurrence()), await nodes.node(recurrence())
    nodes.store.weather.fail("complete_fire", StoreUnavailable("the node dies here"))

    nodes.clock.advance(minutes=1)
    with pytest.raises(StoreUnavailable):
        await dying.tick()
    await other.tick()
    assert await nodes.ticks() == []
    nodes.clock.advance(seconds=10)
    await other.tick()
    await dying.tick()

    assert await nodes.ticks() == [NOON + MINUTE]


async def test_a_completion_whose_answer_is_lost_is_sent_again_and_applies_once() -> None:
    nodes = await fleet()
    ticker = await nodes.node(recurrence())
    nodes.store.weather.lose_answer("complete_fire")

    nodes.clock.advance(minutes=1)
    with pytest.raises(Exception, match="broke before the answer"):
        await ticker.tick()
    await ticker.tick()

    assert await nodes.ticks() == [NOON + MINUTE]


async def test_a_short_outage_while_runs_are_stored_does_not_wait_for_the_lease() -> None:
    nodes = await fleet()
    ticker = await nodes.node(recurrence("a"), recurrence("b"))
    nodes.store.weather.fail("complete_fire", StoreUnavailable("for a moment"))

    nodes.clock.advance(minutes=1)
    with pytest.raises(StoreUnavailable):
        await ticker.tick()
    await ticker.tick()

    assert len(await nodes.ticks(None)) == 2


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        (NewJob(kind="work", payload="{}", unique_key="mine"), "key of its tick"),
        (NewJob(kind="work", payload="{}", run_at=NOON), "says when, and so does its request"),
        (NewJob(kind="work", payload="{}").options(delay=MINUTE), "says when, and so does its request"),
    ],
)
def test_a_request_that_says_itself_when_or_under_which_key_is_refused(request_: NewJob, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        Recurrence(id=ScheduleId("a"), schedule=every(MINUTE), request=request_)
