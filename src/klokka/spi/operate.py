"""The capabilities of operators: acting on jobs and schedules whose state they cannot know, and progress."""

from datetime import datetime
from typing import Protocol, runtime_checkable

from klokka.core.ids import Fence, JobId, ScheduleId


@runtime_checkable
class OperableStore(Protocol):
    """A store with one-statement verbs for people."""

    async def cancel(self, id: JobId) -> bool:
        """Cancels the job from any state that is not terminal, and says whether it did.

        [operate.cancel] A running job is lost to its holder, which learns it from `heartbeat`.
        """
        ...

    async def requeue(self, id: JobId) -> bool:
        """Makes a terminal job due now, by the rules of restart and reopen, and says whether it did.

        [operate.requeue] From any terminal state; False from any other.

        Raises:
            UniqueConflict: another live job holds its key now; nothing was changed.
        """
        ...

    async def delete(self, id: JobId) -> bool:
        """Removes the job whatever its state, and says whether it was there.

        [operate.delete] Its key is free; a running job is lost to its holder.
        """
        ...

    async def pause_schedule(self, id: ScheduleId, reason: str) -> bool:
        """Stops a schedule from being due, and says whether it is known.

        [operate.schedule] A paused schedule is not due, keeps its row and its pause through upserts, and resumes at
        the time given. Both verbs withdraw a fire in flight, as a changed definition does.
        """
        ...

    async def resume_schedule(self, id: ScheduleId, next_fire_at: datetime | None) -> bool:
        """Ends a pause; the next fire is at `next_fire_at`. False if it is unknown or not paused [operate.schedule]."""
        ...


@runtime_checkable
class ProgressStore(Protocol):
    """A store that keeps how far a running job says it is."""

    async def report_progress(self, id: JobId, *, fence: Fence, value: float) -> bool:
        """Keeps `value`, 0.0 to 1.0, and says whether it did; best effort.

        [progress.held] Kept only while the job runs under this fence; a new claim begins without progress.

        Raises:
            InvalidInput: `value` is not within 0.0 to 1.0.
        """
        ...
