"""Verbs for people, and the progress of a running job."""

from datetime import datetime

from klokka.core.ids import Fence, JobId, ScheduleId
from klokka.core.instants import aware
from klokka.core.names import check_text
from klokka.core.states import JobStatus
from klokka.errors import InvalidInput
from klokka.stores.memory.transitioning import Transitioning


class Operating(Transitioning):
    """Implements `OperableStore` and `ProgressStore`."""

    async def cancel(self, id: JobId) -> bool:
        with self._statement() as now:
            row = self._data.table.rows.get(id)
            if row is None or row.terminal:
                return False
            self._move(row, JobStatus.CANCELLED, None, now)
            return True

    async def requeue(self, id: JobId) -> bool:
        def requeue(now: datetime) -> bool:
            row = self._data.table.rows.get(id)
            if row is None or not row.terminal:
                return False
            self._move(row, JobStatus.ENQUEUED, None, now)
            return True

        return await self._settled(requeue)

    async def delete(self, id: JobId) -> bool:
        with self._statement():
            row = self._data.table.rows.get(id)
            if row is not None:
                self._data.table.remove(row)
            return row is not None

    async def pause_schedule(self, id: ScheduleId, reason: str) -> bool:
        check_text("reason", reason)
        with self._statement():
            state = self._data.schedules.get(id)
            if state is None:
                return False
            state.paused = reason
            state.withdraw()
            return True

    async def resume_schedule(self, id: ScheduleId, next_fire_at: datetime | None) -> bool:
        next_at = None if next_fire_at is None else aware(next_fire_at, "next_fire_at")
        with self._statement():
            state = self._data.schedules.get(id)
            if state is None or state.paused is None:
                return False
            state.paused = None
            state.next_fire_at = next_at
            state.withdraw()
            return True

    async def report_progress(self, id: JobId, *, fence: Fence, value: float) -> bool:
        if not 0.0 <= value <= 1.0:
            raise InvalidInput(f"progress is {value}; it goes from 0.0 to 1.0.")
        with self._statement():
            row = self._data.table.running(id)
            if row is None or row.fence != fence:
                return False
            row.progress = value
            return True
