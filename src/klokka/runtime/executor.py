"""The jobs under way: starts what was claimed as places allow, and ends it when it must end."""

import asyncio
import contextvars
import logging
import math
import time
from collections.abc import Callable
from datetime import timedelta

from klokka.core.ids import JobId
from klokka.core.records import ClaimedJob
from klokka.runtime.bus import EventBus
from klokka.runtime.context import JobContext
from klokka.runtime.execution import Execution
from klokka.runtime.held import Ending, Held, HeldJobs, Phase
from klokka.runtime.job_events import tell_lease_lost, tell_started
from klokka.runtime.pace import Pace
from klokka.runtime.progress import Progress
from klokka.runtime.slots import Slots
from klokka.runtime.verdict import Result, Verdict, handed_back, put_back, verdict

logger = logging.getLogger("klokka.executor")


class JobExecutor:
    """Runs each job in one task of the loop, never two claims of a job at once. Belongs to the loop."""

    def __init__(
        self,
        execution: Execution,
        *,
        held: HeldJobs,
        slots: Slots,
        pace: Pace,
        settle: Callable[[Held, Verdict], None],
        bus: EventBus,
        progress: Progress,
        lease: timedelta,
    ) -> None:
        self._execution = execution
        self._held = held
        self._slots = slots
        self._pace = pace
        self._settle = settle
        self._bus = bus
        self._progress = progress
        self._lease = lease
        self._running: dict[JobId, Held] = {}
        self._idle: asyncio.Event | None = None
        self._loop = asyncio.get_running_loop()
        self._context = contextvars.copy_context()
        self.draining = False
        self.suspects = 0
        """How many jobs run that were lost with a worker before."""

    @property
    def running(self) -> int:
        """How many handlers have begun and not ended."""
        return len(self._running)

    # Claims come in

    def hold(self, held: Held) -> None:
        """Takes a fresh claim under renewal. An older one of the same job is ended as lost."""
        older = self._held.get(held.job.id)
        self._held.add(held)
        if older is not None:
            self.lose(older)

    def admit(self, held: Held) -> None:
        """Lets a held claim wait for its place, and until an older execution of the same job here has ended."""
        running = self._running.get(held.job.id)
        if self.draining:
            self._hand_back(held)
        elif running is not None:
            running.successor = held
        else:
            self._slots.put(held)

    def start_waiting(self) -> None:
        """Starts waiting jobs while there are places."""
        while (held := self._slots.take()) is not None:
            self._start(held)

    def close(self, held: Held, made: Verdict) -> None:
        """Books a claim that is not started."""
        held.phase = Phase.ENDED
        self._settle(held, made)

    def put_back(self, *, before: float = math.inf) -> int:
        """Puts back what has waited for a place since before a time of the monotonic clock; gives the number."""
        stood = [held for held in self._slots.withdraw(before=before) if not held.lost]
        for held in stood:
            self.close(held, put_back(held.job))
        return len(stood)

    def drain(self) -> None:
        """Starts nothing any more: what waits, and what is admitted from now on, goes back without a charge."""
        self.draining = True
        successors = [held.successor for held in self._running.values() if held.successor is not None]
        for held in (*self._slots.withdraw(), *successors):
            if not held.lost:
                self._hand_back(held)

    def _hand_back(self, held: Held) -> None:
        self.close(held, handed_back(held.job, unstarted=True))

    # One job's life

    def _start(self, held: Held) -> None:
        job = held.job
        held.phase = Phase.RUNNING
        held.context = JobContext(job, self._progress)
        self._running[job.id] = held
        self.suspects += job.lapses > 0
        # Not by the loop's factory: an eager one would run the job, and the one that follows it, within this call.
        # In a context of its own: where it follows another job, it is started from within that one's.
        held.task = asyncio.Task(self._run(held), loop=self._loop, context=self._context.copy())

    async def _run(self, held: Held) -> None:
        held.entered = True
        context = held.context
        if held.ending is not None or context is None:
            self._ended(held, None)
            return
        job, handler = held.job, held.handler
        held.since = time.monotonic()
        if held.since >= held.deadline:  # this process stood still, and the lease cannot be proven any more
            self.lose(held)
            self._ended(held, None)
            return
        if handler.timeout is not None:
            held.overdue_at = held.since + handler.timeout.total_seconds()
        tell_started(self._bus, job, self._lease)
        try:
            result = await self._execution.run(job, handler, context)
        except asyncio.CancelledError as error:
            result = Result(error=error, ran=time.monotonic() - held.since)
        self._ended(held, result)

    def _ended(self, held: Held, result: Result | None) -> None:
        """Frees the place and books what follows; `result` is None where the handler was never called."""
        job = held.job
        held.phase = Phase.ENDED
        held.task = None
        del self._running[job.id]
        self.suspects -= job.lapses > 0
        if not held.lost:
            try:
                self._judge(held, result)
            except BaseException:  # a user's policy or exception may do anything; the place must not be lost with it
                logger.exception("what follows for job %d (%s) is unknown; its lease will run out", job.id, job.kind)
                self._held.drop(held)
        if held.successor is not None and held.successor.phase is Phase.WAITING and not held.successor.lost:
            self.admit(held.successor)
        self._slots.release(job.queue)
        following = self._slots.take()
        if following is not None:
            self._start(following)
        self._slots.freed(job.queue)
        if self._idle is not None and not self._running:
            self._idle.set()

    def _judge(self, held: Held, result: Result | None) -> None:
        if result is None:
            self._settle(held, handed_back(held.job, unstarted=True))
            return
        held.ran = result.ran
        self._pace.note(result.ran)
        if held.ending is Ending.STOPPED and result.error is not None:
            made = handed_back(held.job, unstarted=False)
        else:
            made = verdict(result, held.job, held.handler)
        self._settle(held, made)

    # Ends that the worker decides

    def lose(self, held: Held) -> None:
        """Ends a claim whose lease is lost: its handler must stop, and its result is discarded.

        One whose handler has ended is left to the settler, whose fence decides.
        """
        if held.ending is not None and held.lost:
            return
        if held.phase is Phase.ENDED:
            return
        self._held.drop(held)
        if held.phase is Phase.WAITING:
            held.ending = Ending.LOST
            logger.info("the lease of job %d (%s) was lost before it was started", held.job.id, held.job.kind)
            return
        held.end(Ending.LOST)
        logger.warning(
            "the lease of job %d (%s) is lost: its handler is told to end and its result will be discarded",
            held.job.id,
            held.job.kind,
        )
        tell_lease_lost(self._bus, held.job, time.monotonic() - held.since)

    def cancel_all(self, ending: Ending) -> None:
        """Ends every handler that runs."""
        for held in list(self._running.values()):
            held.end(ending)

    def leave(self) -> list[ClaimedJob]:
        """Gives up the handlers that do not end: nothing is written about them, and their leases run out.

        The end of the loop, which cancels and awaits every task, is not held up by theirs.
        """
        left = list(self._running.values())
        for held in left:
            held.end(Ending.LEFT)
            self._held.drop(held)
            if held.task is not None:
                asyncio.tasks._unregister_task(held.task)  # noqa: SLF001  # asyncio's own hook for other task classes
        return [held.job for held in left]

    async def idle(self) -> None:
        """Returns when no handler runs."""
        while self._running:
            self._idle = asyncio.Event()
            await self._idle.wait()
        self._idle = None
