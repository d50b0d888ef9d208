"""`app.recurring(…)`: defines a schedule, from a request or as the decorator of a function."""

from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeVar, overload

from klokka.app.functions import JobFunction
from klokka.app.schedules import Schedules
from klokka.core.ids import ScheduleId
from klokka.core.policies import RetryPolicy
from klokka.core.records import NewJob
from klokka.errors import InvalidInput, PayloadNotEncodable
from klokka.runtime.handlers import ExecutorName

if TYPE_CHECKING:  # an app without schedules does not pay for zones and calendars
    from klokka.schedules.misfire import MisfirePolicy
    from klokka.schedules.schedule import Schedule

R = TypeVar("R")


class Recurring:
    """Runs a job at each tick of a schedule, once for the whole fleet, however many workers it has."""

    def __init__(self, schedules: Schedules, kinds: Callable[..., Callable[..., Any]]) -> None:
        """`kinds` is `Klokka.job`, by which a decorated function becomes a kind."""
        self._schedules = schedules
        self._kinds = kinds

    @overload
    def __call__(
        self,
        id: str,
        schedule: "Schedule",
        request: NewJob,
        /,
        *,
        misfire: "MisfirePolicy | None" = None,
        overlap: bool = True,
    ) -> None: ...

    @overload
    def __call__(
        self,
        id: str,
        schedule: "Schedule",
        /,
        *,
        misfire: "MisfirePolicy | None" = None,
        overlap: bool = True,
        queue: str = "default",
        retry: RetryPolicy | None = None,
        timeout: timedelta | None = None,
        executor: ExecutorName | None = None,
        max_lapses: int = 3,
    ) -> Callable[[Callable[[], R]], JobFunction[[], R]]: ...

    def __call__(
        self,
        id: str,
        schedule: "Schedule",
        request: NewJob | None = None,
        /,
        *,
        misfire: "MisfirePolicy | None" = None,
        overlap: bool = True,
        **kind: Any,
    ) -> Callable[[Callable[[], R]], JobFunction[[], R]] | None:
        """Runs `request` at each tick of `schedule`. Without a request it decorates a function, and `id` is its kind too.

        `misfire` says what becomes of ticks that nobody fired in time; by default the latest fires, once. Without
        `overlap` the next run waits until the last one has ended, and ticks that came meanwhile are one.

        Raises:
            InvalidInput: or one of its kinds: a bad or taken id, an argument of the wrong class or one that a request
                leaves no place for, a request with a time or a key of its own, a function that needs arguments.
        """
        from klokka.runtime.recurrence import Recurrence
        from klokka.schedules.misfire import FireOnce

        def define(of: NewJob) -> None:
            recurrence = Recurrence(
                id=ScheduleId(id), schedule=schedule, request=of, misfire=misfire or FireOnce(), overlap=overlap
            )
            self._schedules.define(recurrence)

        def decorate(function: Callable[[], R]) -> JobFunction[[], R]:
            job: JobFunction[[], R] = self._kinds(id, **kind)(function)
            try:
                request = job.new()
            except PayloadNotEncodable as error:
                raise PayloadNotEncodable(
                    f"schedule {id!r} runs its function without arguments, and {error} Give its parameters defaults, or "
                    "make it a kind with @app.job and give app.recurring a request, made by its .new(…)."
                ) from error
            define(request)
            return job

        if request is None:
            return decorate
        if kind:
            raise InvalidInput(
                f"{', '.join(sorted(kind))} of schedule {id!r} would be dropped: its request is made already. Say it "
                "of the job's kind, or of the request by .options(…)."
            )
        define(request)
        return None
