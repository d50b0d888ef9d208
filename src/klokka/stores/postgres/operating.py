"""Verbs for people, from whatever state the job or the schedule is in."""

from datetime import datetime

from klokka.core.ids import JobId, ScheduleId
from klokka.stores._doors import check_reason, known_id
from klokka.stores.postgres.parameters import instant
from klokka.stores.postgres.transitioning import Transitioning


class Operating(Transitioning):
    """Implements `OperableStore`."""

    async def cancel(self, id: JobId) -> bool:
        return known_id(id) and bool(await self._database.write("cancel_job", str(id)))

    async def requeue(self, id: JobId) -> bool:
        return known_id(id) and await self._reopened(id, "requeue_job", str(id))

    async def delete(self, id: JobId) -> bool:
        return known_id(id) and bool(await self._database.write("delete_job", str(id)))

    async def pause_schedule(self, id: ScheduleId, reason: str) -> bool:
        check_reason(reason, self._setting.limits)
        return bool(await self._database.write("pause_schedule", id, reason))

    async def resume_schedule(self, id: ScheduleId, next_fire_at: datetime | None) -> bool:
        at = None if next_fire_at is None else instant(next_fire_at)
        return bool(await self._database.write("resume_schedule", id, at))
