"""What this process holds: claimed jobs under leases that it can prove."""

import enum
from asyncio import Task

from klokka.core.ids import JobId
from klokka.core.records import ClaimedJob
from klokka.runtime.context import JobContext
from klokka.runtime.handlers import Handler


class Phase(enum.IntEnum):
    """How far this process is with a job."""

    WAITING = 0
    """Claimed and not started."""
    RUNNING = 1
    ENDED = 2
    """Its handler has ended, and what follows is being written."""


class Ending(enum.IntEnum):
    """Why the worker itself ends a job's handler. A later one replaces an earlier one, never the other way round."""

    STOPPED = 1
    """The worker stops: hand the job back."""
    LOST = 2
    """The lease is lost: discard the result."""
    LEFT = 3
    """The worker leaves while the handler runs on: write nothing, the lease ends by itself."""


class Held:
    """One claim under way. Mutable, since it is the runtime's own book and crosses no seam.

    `deadline` is by the monotonic clock, from before the claim or renewal was sent; the heartbeater's thread moves
    it, all else belongs to the loop.
    """

    __slots__ = (
        "context",
        "deadline",
        "doubtful",
        "ending",
        "entered",
        "handler",
        "job",
        "overdue_at",
        "phase",
        "ran",
        "since",
        "successor",
        "task",
    )

    def __init__(self, job: ClaimedJob, handler: Handler, *, claimed: float, deadline: float) -> None:
        self.job = job
        self.handler = handler
        self.deadline = deadline
        self.since = claimed
        """When its phase began."""
        self.phase = Phase.WAITING
        self.ending: Ending | None = None
        self.entered = False
        self.overdue_at: float | None = None
        """When its `timeout` is over."""
        self.ran = 0.0
        self.context: JobContext | None = None
        self.task: Task[None] | None = None
        self.successor: Held | None = None
        """A newer claim of the same job, which waits until this one has ended."""
        self.doubtful = False
        """A write about it may have happened already."""

    @property
    def lost(self) -> bool:
        """Whether its result is of no use any more."""
        return self.ending is not None and self.ending >= Ending.LOST

    def end(self, ending: Ending) -> None:
        """Tells the handler to end, for this reason or a stronger one given before."""
        if self.ending is None or ending > self.ending:
            self.ending = ending
        if self.context is not None:
            self.context.cancel()
        if self.task is not None and self.entered:  # one that has not begun looks at `ending` first
            self.task.cancel()


class HeldJobs:
    """The claims whose leases are renewed: from the claim until the last write about them has returned."""

    def __init__(self) -> None:
        self._jobs: dict[JobId, Held] = {}

    def __len__(self) -> int:
        return len(self._jobs)

    def add(self, held: Held) -> None:
        """Takes a fresh claim, in the place of an older one of the same job."""
        self._jobs[held.job.id] = held

    def get(self, id: JobId) -> Held | None:
        """The newest claim of a job."""
        return self._jobs.get(id)

    def drop(self, held: Held) -> None:
        """Forgets this very claim, and no newer one."""
        if self._jobs.get(held.job.id) is held:
            del self._jobs[held.job.id]

    def snapshot(self) -> list[Held]:
        """All of them; may be called on any thread, since the copy of a dict is one step of the interpreter."""
        return list(self._jobs.copy().values())
