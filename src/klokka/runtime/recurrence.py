"""A recurring job as a value: when, what, and what becomes of ticks that nobody fired in time."""

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from klokka.core.ids import ScheduleId
from klokka.core.names import check_name
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
        InvalidInput: or one of its kinds: a bad id, or a request that says itself when or under which key.
    """

    id: ScheduleId
    schedule: Schedule
    request: NewJob
    misfire: MisfirePolicy = field(default_factory=FireOnce)
    overlap: bool = True
    fingerprint: str = field(init=False)

    def __post_init__(self) -> None:
        check_name("schedule id", self.id)
        if self.request.run_at is not None:
            raise InvalidInput(
                f"schedule {self.id!r} says when, and so does its request. Leave delay and run_at out of the request."
            )
        if self.request.unique_key is not None:
            raise InvalidInput(
                f"schedule {self.id!r} gives each run the key of its tick, so its request can carry none. Leave "
                "unique_key out; overlap=False keeps runs apart."
            )
        object.__setattr__(self, "fingerprint", fingerprint(self.schedule, self.extra(), self.misfire))

    @property
    def shared_key(self) -> str | None:
        """The key under which its runs exclude one another, if they do."""
        return None if self.overlap else f"schedule:{self.id}"

    def spec(self, now: datetime) -> ScheduleSpec:
        """What the store keeps; the first fire is the first tick after `now`."""
        return ScheduleSpec(
            id=self.id,
            kind=self.request.kind,
            fingerprint=self.fingerprint,
            description=self.schedule.describe(),
            fire_at=self.schedule.next(now),
        )

    def run(self, tick: datetime) -> NewJob:
        """The job of one tick."""
        of_tick = f"schedule:{self.id}:{tick.astimezone(UTC).replace(tzinfo=None).isoformat()}Z"
        return replace(self.request, run_at=tick, unique_key=self.shared_key or of_tick, schedule_id=self.id)

    def passed_over(self, first: datetime, now: datetime) -> tuple[Count, datetime | None]:
        """How many ticks there are from `first`, which is one, to `now`, and the one after them."""
        later = count_ticks(self.schedule, after=first, until=now, most=COUNTED - 1)
        return Count(number=later.number + 1, exact=later.exact), self.schedule.next(now)

    def extra(self) -> NewJob:
        """A run that is of no tick: now, because somebody asks for it."""
        return replace(self.request, unique_key=self.shared_key, schedule_id=self.id)
