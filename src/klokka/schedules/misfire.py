"""What to do with ticks that nobody fired in time: three policies and the one function that applies them."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, TypeAlias, assert_never

from klokka.core.instants import LAST, MICROSECOND, aware
from klokka.errors import InvalidSchedule
from klokka.schedules.arguments import of_class
from klokka.schedules.counting import COUNTED, Count, count_ticks
from klokka.schedules.schedule import Schedule

THRESHOLD: Final = timedelta(seconds=60)
"""A pause of the process is not a misfire: a tick is late only if more than this has gone by."""
MOST: Final = 10_000
"""What `CatchUp` makes up for at most: a year of hours, a week of minutes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Skip:
    """Fire the latest due tick if it is on time, else nothing."""

    threshold: timedelta = THRESHOLD

    def __post_init__(self) -> None:
        _check_threshold(self.threshold)

    def canonical(self) -> str:
        return f"skip, late after {self.threshold // MICROSECOND} us"


@dataclass(frozen=True, slots=True, kw_only=True)
class FireOnce:
    """Fire the latest due tick, once, however late it is."""

    threshold: timedelta = THRESHOLD

    def __post_init__(self) -> None:
        _check_threshold(self.threshold)

    def canonical(self) -> str:
        return f"once, late after {self.threshold // MICROSECOND} us"


@dataclass(frozen=True, slots=True, kw_only=True)
class CatchUp:
    """Fire the last `at_most` due ticks in order, up to 10,000, each as a run of its own, however late they are."""

    at_most: int
    threshold: timedelta = THRESHOLD

    def __post_init__(self) -> None:
        of_class("at_most", self.at_most, int, "Give a whole number.")
        if self.at_most < 1:
            raise InvalidSchedule(f"at_most {self.at_most} is not 1 or more. To fire nothing late use Skip().")
        if self.at_most > MOST:
            raise InvalidSchedule(
                f"at_most {self.at_most} is more than {MOST:,}, the most that is made up for. Klokka tells as Misfired "
                "what gets no run; enqueue by hand what you want of it."
            )
        _check_threshold(self.threshold)

    def canonical(self) -> str:
        return f"up to {self.at_most}, late after {self.threshold // MICROSECOND} us"


MisfirePolicy: TypeAlias = Skip | FireOnce | CatchUp


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """`fires`, oldest first, are to be enqueued in one transaction with `next_fire_at`; `skipped` were due and are not.

    `late` says that the latest due tick is later than the policy's threshold. `next_fire_at` None: there is no more.
    """

    fires: tuple[datetime, ...]
    skipped: Count
    late: bool
    next_fire_at: datetime | None


def decide(schedule: Schedule, next_fire_at: datetime, now: datetime, policy: MisfirePolicy) -> Decision:
    """What fires at `now`, by work that is bounded whatever the age of `next_fire_at`, the first tick not yet decided.

    Due are `next_fire_at` itself and the later ticks up to `now`. Before its time nothing is due and nothing moves: a
    clock that goes back fires nothing again. What is not fired is counted exactly up to 1,000.
    """
    first, now = aware(next_fire_at, "next_fire_at"), aware(now, "now")
    if now < first:
        return Decision(fires=(), skipped=Count(number=0, exact=True), late=False, next_fire_at=first)
    latest = _before(schedule, now + MICROSECOND if now < LAST else now, first)
    late = now - latest > policy.threshold
    fires: tuple[datetime, ...]
    match policy:
        case Skip():
            fires = () if late else (latest,)
        case FireOnce():
            fires = (latest,)
        case CatchUp(at_most=most):
            fires = _last(schedule, first, latest, most)
        case _:
            assert_never(policy)
    # `first` is due by definition, whether or not the zone's present rules still give it
    later = count_ticks(schedule, after=first, until=now, most=COUNTED + len(fires) - 1)
    skipped = Count(number=later.number + 1 - len(fires), exact=later.exact)
    return Decision(fires=fires, skipped=skipped, late=late, next_fire_at=schedule.next(now))


def _before(schedule: Schedule, instant: datetime, first: datetime) -> datetime:
    """The last due tick earlier than `instant`."""
    tick = schedule.prev(instant)
    return first if tick is None or tick < first else tick


def _last(schedule: Schedule, first: datetime, latest: datetime, most: int) -> tuple[datetime, ...]:
    ticks = [latest]
    while len(ticks) < most and ticks[-1] > first:
        ticks.append(_before(schedule, ticks[-1], first))
    return tuple(reversed(ticks))


def _check_threshold(threshold: timedelta) -> None:
    of_class("threshold", threshold, timedelta, "Give a timedelta, such as timedelta(seconds=60).")
    if threshold < timedelta(0):
        raise InvalidSchedule(f"threshold {threshold} is negative. Give how late a tick may be, such as {THRESHOLD}.")
