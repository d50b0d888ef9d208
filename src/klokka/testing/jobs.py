"""What a test asks and does with the jobs of an app."""

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Final

from klokka.app.capability import capable
from klokka.app.klokka import Klokka
from klokka.core.clocks import ManualClock
from klokka.core.ids import JobId, WorkerId
from klokka.core.records import ClaimedJob, JobDetails, JobQuery
from klokka.core.states import JobStatus, status_of
from klokka.errors import KlokkaError
from klokka.runtime.context import JobContext
from klokka.runtime.execution import Execution
from klokka.runtime.handlers import Executor
from klokka.runtime.job_events import tell_end, tell_started
from klokka.runtime.threads import Threads
from klokka.runtime.ticker import Ticker
from klokka.runtime.verdict import verdict
from klokka.spi.query import QueryableStore
from klokka.spi.store import JobStore
from klokka.testing.expectation import Expectation, Kind

LEASE: Final = timedelta(hours=1)
_HEARING: Final = 5.0
"""Seconds that listeners get for what was told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """One run of one job: where it led, and what its handler raised, if it did."""

    id: JobId
    kind: str
    attempt: int
    status: JobStatus
    error: BaseException | None


class Jobs:
    """The jobs of an app in a test. `clock` moves when the test moves it: `jobs.clock.advance(hours=1)`.

    What listens by `app.on(…)` has heard of what was fired and run when the verb that did it returns.
    """

    def __init__(self, app: Klokka, store: JobStore, clock: ManualClock) -> None:
        self.clock = clock
        self._app = app
        self._store = store
        self._worker = WorkerId("klokka.testing")
        self._ticker = Ticker(
            store,
            tuple(app.schedules.values()),
            worker=self._worker,
            bus=app.events,
            lease=LEASE,
            poll=LEASE,
        )

    async def enqueued(self, kind: Kind | None = None) -> list[JobDetails]:
        """All jobs that have not ended, of one kind or of any, in the order of enqueueing."""
        return [job for job in await self.all(kind) if job.summary.terminal_at is None]

    async def all(self, kind: Kind | None = None) -> list[JobDetails]:
        """All jobs, ended ones too, of one kind or of any, in the order of enqueueing."""
        books = capable(self._store, QueryableStore, "klokka.testing")
        name = None if kind is None else Expectation(kind).kind
        listed = await books.list_jobs(JobQuery(kind=name, limit=1_000_000))
        return [job for summary in reversed(listed) if (job := await books.get_job(summary.id)) is not None]

    async def assert_enqueued(self, kind: Kind, payload: Any = None, /, **expected: Any) -> JobDetails:
        """The first waiting job of `kind` whose payload has all that is expected.

        For a function name some or all of its arguments; for a JobType give the payload.

        Raises:
            AssertionError: there is none; says what is there instead, and where the nearest differs.
        """
        wanted = Expectation(kind, payload, expected)
        return wanted.met_by(await self.enqueued(kind), await self.enqueued())

    async def assert_not_enqueued(self, kind: Kind, payload: Any = None, /, **expected: Any) -> None:
        """Returns if no waiting job matches; see `assert_enqueued`.

        Raises:
            AssertionError: one does.
        """
        Expectation(kind, payload, expected).not_met_by(await self.enqueued(kind))

    async def tick(self) -> list[JobId]:
        """Fires what recurs and is due by the clock, and gives the ids of the new jobs, which wait to be run.

        The first tick of a schedule is the first after the start of the block.
        """
        fired = await self._ticker.tick()
        await self._app.events.flush(_HEARING)
        return fired

    async def run_one(self) -> Ran | None:
        """Runs the next due job that the app has a handler for, in a worker's order; None if there is none."""
        threads = Threads()
        try:
            return await self._run_next(Execution(threads=threads, interceptors=self._app.interceptors))
        finally:
            threads.close()

    async def drain(self, *, at_most: int = 10_000) -> list[Ran]:
        """Fires what recurs and runs due jobs, and those that they enqueue, until none is left.

        Retries and snoozes are not due before the clock is moved, and nor are the next ticks.

        Raises:
            KlokkaError: more than `at_most` have run: the jobs enqueue one another without end.
        """
        ran: list[Ran] = []
        fired = True
        while fired:
            fired = bool(await self.tick())
            while (one := await self.run_one()) is not None:
                fired = True  # where runs may not overlap, the end of one lets the next tick fire
                ran.append(one)
                if len(ran) > at_most:
                    raise KlokkaError(f"drain has run {at_most} jobs and more are due. Do they enqueue one another?")
        return ran

    async def _run_next(self, execution: Execution) -> Ran | None:
        claimed = await self._store.claim(
            queues=[queue.name for queue in self._app.served_queues],
            kinds=tuple(self._app.handlers),
            limit=1,
            lease=LEASE,
            worker=self._worker,
        )
        return await self._run(execution, claimed[0]) if claimed else None

    async def _run(self, execution: Execution, job: ClaimedJob) -> Ran:
        handler = self._app.handlers[job.kind]
        if handler.executor is Executor.PROCESS:  # the same code, without the seconds that a process takes to start
            handler = replace(handler, executor=Executor.THREAD)
        events = self._app.events
        tell_started(events, job, LEASE)
        result = await execution.run(job, handler, JobContext(job))
        made = verdict(result, job, handler)
        change = made.change
        await self._store.transition(
            change.id, from_=change.from_, to=change.to, fence=change.fence, error=change.error, refund=change.refund
        )
        tell_end(events, made, job, result.ran)
        await events.flush(_HEARING)
        return Ran(id=job.id, kind=job.kind, attempt=job.attempt, status=status_of(change.to), error=result.error)
