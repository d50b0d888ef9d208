"""What a handler can know of the job that it runs: `current_job()`, anywhere below the handler."""

from collections.abc import Mapping
from contextvars import ContextVar
from datetime import datetime
from typing import Final, Protocol

from klokka.core.ids import Fence, JobId, ScheduleId
from klokka.core.names import shown
from klokka.core.records import ClaimedJob
from klokka.errors import InvalidInput, MisuseError


class Reporter(Protocol):
    """Where the progress of jobs goes: on the loop awaited, from elsewhere without waiting."""

    async def report(self, job: ClaimedJob, value: float) -> None: ...

    def tell(self, job: ClaimedJob, value: float) -> None: ...


class JobContext:
    """The job under way. Its id, attempt and fence make effects idempotent; `scheduled_for` names the window of data.

    `cancelled` turns true when the lease is lost, the time is over or the worker must stop now: an async handler is
    cancelled besides, a thread can only look here.
    """

    __slots__ = ("_cancelled", "_job", "_reporter")

    def __init__(self, job: ClaimedJob, reporter: Reporter | None = None) -> None:
        self._job = job
        self._reporter = reporter
        self._cancelled = False

    @property
    def id(self) -> JobId:
        return self._job.id

    @property
    def kind(self) -> str:
        return self._job.kind

    @property
    def queue(self) -> str:
        return self._job.queue

    @property
    def attempt(self) -> int:
        """From 1. A snooze or a hand-back of unstarted work does not count."""
        return self._job.attempt

    @property
    def lapses(self) -> int:
        """How often a worker was lost while it held this job."""
        return self._job.lapses

    @property
    def fence(self) -> Fence:
        """Grows with every claim: a resource that remembers the highest one refuses late writers."""
        return self._job.fence

    @property
    def unique_key(self) -> str | None:
        return self._job.unique_key

    @property
    def schedule_id(self) -> ScheduleId | None:
        return self._job.schedule_id

    @property
    def scheduled_for(self) -> datetime:
        """The time that the job was meant for; retries and snoozes do not change it."""
        return self._job.scheduled_for

    @property
    def enqueued_at(self) -> datetime:
        return self._job.enqueued_at

    @property
    def payload_version(self) -> int:
        return self._job.payload_version

    @property
    def headers(self) -> Mapping[str, str]:
        return self._job.headers

    @property
    def cancelled(self) -> bool:
        """Whether the handler should end now; its result will be discarded."""
        return self._cancelled

    def cancel(self) -> None:
        """For the runtime: tells the handler to end."""
        self._cancelled = True

    async def progress(self, value: float) -> None:
        """Keeps `value`, 0.0 to 1.0, where people see it; best effort, and nothing where the store cannot.

        Raises:
            InvalidInput: `value` is out of range, or no number.
        """
        _check_progress(value)
        if self._reporter is not None:
            await self._reporter.report(self._job, value)

    def progress_sync(self, value: float) -> None:
        """The same from a handler in a thread or a process; does not wait until it is kept.

        Raises:
            InvalidInput: `value` is out of range, or no number.
        """
        _check_progress(value)
        if self._reporter is not None:
            self._reporter.tell(self._job, value)


def _check_progress(value: float) -> None:
    try:
        fits = 0.0 <= value <= 1.0
    except TypeError:  # a text, or nothing
        fits = False
    if not fits:
        raise InvalidInput(f"progress must be a number from 0.0 to 1.0, not {shown(value)}.")


CURRENT: Final[ContextVar[JobContext]] = ContextVar("klokka_current_job")


def current_job() -> JobContext:
    """The job that the caller runs in, in async handlers, threads and process handlers alike.

    Raises:
        MisuseError: the caller runs in no job.
    """
    try:
        return CURRENT.get()
    except LookupError:
        raise MisuseError("no job is running here. current_job() answers below a handler only.") from None
