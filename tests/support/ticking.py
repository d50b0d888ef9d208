"""A fleet of tickers on one store whose clock the test moves."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from klokka.core.clocks import ManualClock
from klokka.core.ids import ScheduleId, WorkerId
from klokka.core.records import JobQuery, JobSummary, NewJob
from klokka.core.schedule_records import ScheduleRow
from klokka.core.states import Running, Succeeded
from klokka.core.worker_records import WorkerBeat
from klokka.runtime.bus import EventBus
from klokka.runtime.recurrence import Recurrence
from klokka.runtime.ticker import Ticker
from klokka.schedules.interval import every
from klokka.schedules.schedule import Schedule
from tests.support.flaky import FlakyStore, opened

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
LEASE = timedelta(seconds=10)


def recurrence(id: str = "a", schedule: Schedule | None = None, *, kind: str = "work", **more: Any) -> Recurrence:
    """A definition, each minute unless told otherwise."""
    return Recurrence(
        id=ScheduleId(id), schedule=schedule or every(MINUTE), request=NewJob(kind=kind, payload="{}"), **more
    )


class Fleet:
    """Nodes that share a store. `heard` are the events of all."""

    def __init__(self, store: FlakyStore, clock: ManualClock) -> None:
        self.store = store
        self.clock = clock
        self.bus = EventBus()
        self._nodes = 0

    async def node(self, *recurrences: Recurrence, beats: bool = True) -> Ticker:
        """A further node, as at the start of its worker: heard of, and its schedules registered."""
        self._nodes += 1
        worker = WorkerId(f"node-{self._nodes}")
        if beats:
            await self.beat(worker, recurrences)
        ticker = Ticker(self.store, recurrences, worker=worker, bus=self.bus, lease=LEASE, poll=LEASE)
        await ticker.tick()
        return ticker

    async def beat(self, worker: WorkerId, recurrences: Sequence[Recurrence]) -> None:
        """A beat that lasts for long."""
        schedules = tuple(each.id for each in recurrences)
        beat = WorkerBeat(id=worker, host="h", pid=1, version="1", queues=(), kinds=(), schedules=schedules)
        await self.store.beat(beat, live_for=timedelta(days=1000))

    async def jobs(self, id: str | None = "a") -> list[JobSummary]:
        """The runs of a schedule, or of all, oldest first."""
        query = JobQuery(schedule_id=None if id is None else ScheduleId(id), limit=100_000)
        return list(reversed(await self.store.list_jobs(query)))

    async def ticks(self, id: str | None = "a") -> list[datetime]:
        """What the runs are for, oldest first."""
        found = [await self.store.get_job(job.id) for job in await self.jobs(id)]
        return [details.scheduled_for for details in found if details is not None]

    async def row(self, id: str = "a") -> ScheduleRow:
        """The schedule's row."""
        return next(row for row in await self.store.list_schedules() if row.id == id)

    async def finish(self, kind: str = "work") -> int:
        """Runs what is due to its end, and says how many."""
        claimed = await self.store.claim(
            queues=["default"], kinds=[kind], limit=100, lease=timedelta(hours=1), worker=WorkerId("hand")
        )
        for job in claimed:
            await self.store.transition(job.id, from_=Running(), to=Succeeded(), fence=job.fence)
        return len(claimed)


async def fleet(start: datetime = NOON) -> Fleet:
    """An empty store whose clock stands at `start`."""
    clock = ManualClock(start)
    return Fleet(await opened(clock=clock), clock)
