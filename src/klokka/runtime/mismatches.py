"""Schedules whose row in the store carries another definition than this process does."""

import logging
from datetime import timedelta
from time import monotonic

from klokka.core.ids import ScheduleId, WorkerId
from klokka.core.schedule_records import ScheduleFire
from klokka.spi.fleet import FleetStore
from klokka.spi.store import JobStore

logger = logging.getLogger("klokka.ticker")


class Mismatches:
    """Leaves such schedules to their owners for a while; who sees one a second time reports it.

    An older or newer node owns the row. Claiming its fire has kept the owner off it for a lease, so the id is left out
    of the next claims. If it is still there after that, the node with the newest code is to register its own again:
    the one whose live worker started last of those that have the schedule. Where the store keeps no fleet, anyone is.
    """

    def __init__(self, store: JobStore, worker: WorkerId, *, leave_for: timedelta) -> None:
        self._fleet = store if isinstance(store, FleetStore) else None
        self._worker = worker
        self._leave_for = leave_for.total_seconds()
        self._seen: dict[ScheduleId, float] = {}
        self._reported: set[ScheduleId] = set()

    @property
    def left_alone(self) -> set[ScheduleId]:
        """The ids that are not to be claimed now."""
        now = monotonic()
        return {schedule for schedule, seen in self._seen.items() if now < seen + self._leave_for}

    async def lasts(self, fire: ScheduleFire) -> bool:
        """Notes a fire of another definition, and says whether this process is to register its own again."""
        schedule = fire.schedule_id
        first = schedule not in self._seen
        self._seen[schedule] = monotonic()
        if first:
            logger.info(
                "schedule %s is defined otherwise in the store; it is left to the worker that did that", schedule
            )
            return False
        newest = await self._newest(schedule)
        if schedule not in self._reported:
            self._reported.add(schedule)
            logger.warning(
                "schedule %s is still defined otherwise in the store than here: workers with older and newer code run "
                "side by side, or one has overwritten it. %s",
                schedule,
                "It is registered again as it is here." if newest else "A worker that started later decides.",
            )
        return newest

    def over(self, id: ScheduleId) -> None:
        """The row is as it is here."""
        self._seen.pop(id, None)
        self._reported.discard(id)

    async def _newest(self, id: ScheduleId) -> bool:
        if self._fleet is None:
            return True
        having = [row for row in await self._fleet.workers() if row.live and id in row.beat.schedules]
        if not any(row.beat.id == self._worker for row in having):
            return True  # it has not been heard of yet, so it has just started
        return max(having, key=lambda row: (row.started_at, row.beat.id)).beat.id == self._worker
