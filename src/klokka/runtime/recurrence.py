"""A recurring job as a value: when, what, and what becomes of ticks that nobody fired in time."""

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import get_args

from klokka.core.arguments import of_class
from klokka.core.ids import ScheduleId
from klokka.core.instants import aware
from klokka.core.names import check_name, check_text
from klokka.core.records import NewJob
from klokka.core.schedule_records import ScheduleSpec
from klokka.errors import InvalidInput
from klokka.schedules.counting import COUNTED, Count, count_ticks
from klokka.schedules.fingerprint import fingerprint
from klokka.schedules.misfire import FireOnce, MisfirePolicy
from klokka.schedules.schedule import Schedule


@dataclass(frozen=True, slots=True, kw_only=True)
class Recurrence:
    """The definition of one schedule, the same on every node that has the same code.

    Without `overlap` its runs share one unique key, so that the store itself keeps a second live one out.

    Raises:
        InvalidInput: or one of its kinds: a bad id, an argument of the wrong class, or a request that says itself
            when or under which key.
    """

    id: ScheduleId
    schedule: Schedule
    request: NewJob
    misfire: MisfirePolicy = field(default_factory=FireOnce)
    overlap: bool = True
    fingerprint: str = field(init=False)

    def __post_init__(self) -> None:
        check_name("schedule id", self.id)
        what = f"schedule {self.id!r}"
        of_class(f"when of {what}", self.schedule, Schedule, 'Give one such as daily(at="09:00") or cron("0 9 * * *").')
        of_class(f"the request of {what}", self.request, NewJob, "Give what `.new(…)` of a job makes.")
        of_class(f"misfire of {what}", self.misfire, get_args(MisfirePolicy), "Give one such as Skip().")
        of_class(f"overlap of {what}", self.overlap, bool, "Give True or False.")
        if self.request.run_at is not None:
            raise InvalidInput(f"{what} says when, and so does its request. Leave delay and run_at out of the request.")
        if self.request.unique_key is not None:
            raise InvalidInput(
                f"{what} gives each run the key of its tick, so its request can carry none. Leave "
                "unique_key out; overlap=False keeps runs apart."
            )
        object.__setattr__(self, "fingerprint", fingerprint(self.schedule, self.extra(), self.misfire))

    @property
    def shared_key(self) -> str | None:
        """The key under which its runs exclude one another, if they do."""
        return None if self.overlap else f"schedule:{self.id}"

    def next(self, after: datetime) -> datetime | None:
        """The first tick later than `after`; None if there is none.

        Raises:
            InvalidTime: a schedule of a user's own gives no instant.
        """
        tick = self.schedule.next(after)
        return None if tick is None else aware(tick, "the next tick")

    def spec(self, now: datetime) -> ScheduleSpec:
        """What the store keeps, and surely takes; the first fire is the first tick after `now`.

        Raises:
            InvalidInput: or one of its kinds: a schedule or calendar of a user's own gives what no store can keep.
        """
        return ScheduleSpec(
            id=self.id,
            kind=self.request.kind,
            fingerprint=self.fingerprint,
            description=check_text("description", self.schedule.describe()),
            fire_at=self.next(now),
        )

    def run(self, tick: datetime) -> NewJob:
        """The job of one tick."""
        of_tick = f"schedule:{self.id}:{tick.astimezone(UTC).replace(tzinfo=None).isoformat()}Z"
        return replace(self.request, run_at=tick, unique_key=self.shared_key or of_tick, schedule_id=self.id)

    def passed_over(self, first: datetime, now: datetime) -> tuple[Count, datetime | None]:
        """How many ticks there are from `first`, which is one, to `now`, and the one after them."""
        later = count_ticks(self.schedule, after=first, until=now, most=COUNTED - 1)
        return Count(number=later.number + 1, exact=later.exact), self.next(now)

    def extra(self) -> NewJob:
        """A run that is of no tick: now, because somebody asks for it."""
        return replace(self.request, unique_key=self.shared_key, schedule_id=self.id)
