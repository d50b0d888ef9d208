"""What recurs, in users' own tests: the clock is moved, and the test says when to look."""

from datetime import UTC, datetime, timedelta

import klokka
import klokka.testing
from klokka.core.ids import ScheduleId

app = klokka.Klokka("sqlite:///never-opened.db")
windows: list[datetime] = []


@app.recurring("cleanup", klokka.every(timedelta(hours=1)))
async def cleanup() -> None:
    windows.append(klokka.current_job().scheduled_for)


@app.job("digest")
def digest(audience: str) -> None: ...


app.recurring("digest.daily", klokka.cron("0 9 * * *"), digest.new("all"), misfire=klokka.CatchUp(at_most=2))

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


async def test_nothing_recurs_while_the_clock_stands_still() -> None:
    async with klokka.testing.run(app) as jobs:
        assert await jobs.tick() == []
        assert await jobs.drain() == []


async def test_an_hour_later_the_hourly_job_has_run() -> None:
    windows.clear()
    async with klokka.testing.run(app, start=NOON) as jobs:
        jobs.clock.advance(minutes=59)
        assert await jobs.drain() == []
        jobs.clock.advance(minutes=1)
        ran = await jobs.drain()

    assert [one.kind for one in ran] == ["cleanup"]
    assert windows == [NOON + timedelta(hours=1)]


async def test_a_tick_enqueues_and_runs_nothing() -> None:
    async with klokka.testing.run(app, start=NOON) as jobs:
        jobs.clock.advance(hours=1)
        fired = await jobs.tick()

        job = await jobs.assert_enqueued(cleanup)
        assert fired == [job.summary.id]
        assert job.summary.schedule_id == "cleanup"


async def test_days_that_were_missed_follow_the_misfire_policy() -> None:
    async with klokka.testing.run(app, start=NOON) as jobs:
        jobs.clock.advance(days=5)
        await jobs.tick()

        runs = [job.scheduled_for for job in await jobs.enqueued(digest)]
        assert runs == [datetime(2026, 1, day, 9, tzinfo=UTC) for day in (5, 6)]


async def test_listeners_of_the_app_have_heard_of_schedules_when_a_tick_returns() -> None:
    heard: list[object] = []
    app = klokka.Klokka("memory:")

    @app.recurring("hourly", klokka.every(timedelta(hours=1)))
    def hourly() -> None: ...

    app.on(klokka.Fired)(heard.append)
    app.on(klokka.Misfired)(heard.append)

    async with klokka.testing.run(app, start=NOON) as jobs:
        jobs.clock.advance(hours=3)
        [job_id] = await jobs.tick()

        three = NOON + timedelta(hours=3)
        assert heard == [
            klokka.Fired(schedule=ScheduleId("hourly"), kind="hourly", scheduled_for=three, id=job_id),
            klokka.Misfired(schedule=ScheduleId("hourly"), kind="hourly", missed=2, at_least=False),
        ]
