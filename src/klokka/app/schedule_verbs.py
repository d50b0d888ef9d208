"""What people do with schedules: look, trigger, pause, resume. Each is one function over a store."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from klokka.app.capability import capable
from klokka.core.ids import ScheduleId
from klokka.core.schedule_records import ScheduleRow
from klokka.errors import InvalidInput, UnknownSchedule
from klokka.spi.fleet import FleetStore
from klokka.spi.operate import OperableStore
from klokka.spi.query import QueryableStore
from klokka.spi.store import JobStore

if TYPE_CHECKING:  # see `recurring`
    from klokka.runtime.recurrence import Recurrence
    from klokka.schedules.counting import Count


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleState:
    """A schedule's row, and whether it is `orphaned`: no live worker has it. None: the store keeps no fleet."""

    row: ScheduleRow
    orphaned: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Resumed:
    """A schedule after its pause: `skipped` ticks came meanwhile and get no run; None: they were not to be skipped."""

    row: ScheduleRow
    """As it stood when it was paused."""
    skipped: "Count | None"


async def states(store: JobStore) -> list[ScheduleState]:
    """Every schedule that the store knows, by id; those that were removed from the code too."""
    rows = await capable(store, QueryableStore, "looking at schedules").list_schedules()
    if not isinstance(store, FleetStore):
        return [ScheduleState(row=row, orphaned=None) for row in rows]
    held = {schedule for worker in await store.workers() if worker.live for schedule in worker.beat.schedules}
    return [ScheduleState(row=row, orphaned=row.id not in held) for row in rows]


async def state(store: JobStore, id: ScheduleId) -> ScheduleState:
    """One of them.

    Raises:
        UnknownSchedule: the store does not know it.
    """
    for each in await states(store):
        if each.row.id == id:
            return each
    raise unknown(id)


async def pause(store: JobStore, id: ScheduleId, reason: str) -> None:
    """Stops the schedule from firing; a fire in flight is withdrawn.

    Raises:
        UnknownSchedule: the store does not know it.
    """
    if not await capable(store, OperableStore, "pausing a schedule").pause_schedule(id, reason):
        raise unknown(id)


async def resume(store: JobStore, id: ScheduleId, known: "Recurrence | None", *, catch_up: bool) -> Resumed | None:
    """Ends a pause; None if there is none. What was missed is skipped, or left to the misfire policy by `catch_up`.

    `known` is the definition, without which ticks cannot be skipped.

    Raises:
        UnknownSchedule: the store does not know the schedule.
        InvalidInput: its definition is needed and not known here.
    """
    operable = capable(store, OperableStore, "resuming a schedule")
    row = (await state(store, id)).row
    if row.paused is None:
        return None
    next_fire_at = row.next_fire_at
    skipped = None
    if not catch_up and next_fire_at is not None and next_fire_at <= (now := await store.now()):
        if known is None:
            raise InvalidInput(
                f"schedule {id!r} has missed ticks, and what comes after them only its definition says. Name the app "
                "that defines it, or let it catch up."
            )
        skipped, next_fire_at = known.passed_over(next_fire_at, now)
    if not await operable.resume_schedule(id, next_fire_at):
        return None
    return Resumed(row=row, skipped=skipped)


def unknown(id: ScheduleId) -> UnknownSchedule:
    """The error for a schedule that the store has never seen."""
    return UnknownSchedule(
        f"schedule {id!r} is unknown to the store. A worker of the app that defines it registers it."
    )
