"""When this process has to look for due fires: known from the definitions, without asking the store."""

from collections.abc import Mapping
from datetime import datetime

from klokka.core.ids import ScheduleId
from klokka.runtime.complaints import Complaints
from klokka.runtime.recurrence import Recurrence


class Agenda:
    """The next tick of each schedule; each is computed anew only when it has passed."""

    def __init__(self, recurrences: Mapping[ScheduleId, Recurrence], complaints: Complaints) -> None:
        self._recurrences = recurrences
        self._complaints = complaints
        self._next: dict[ScheduleId, datetime | None] = {}

    def wait(self, now: datetime) -> float | None:
        """Seconds from `now`, by the store's clock, to the next tick of any; None if there is none."""
        for schedule, recurrence in self._recurrences.items():
            tick = self._next.get(schedule, now)
            if tick is not None and tick <= now:
                self._next[schedule] = self._after(recurrence, now)
        soonest = min((tick for tick in self._next.values() if tick is not None), default=None)
        return None if soonest is None else (soonest - now).total_seconds()

    def _after(self, recurrence: Recurrence, now: datetime) -> datetime | None:
        try:
            return recurrence.next(now)
        except Exception as error:  # a user's calendar may raise anything
            self._complaints.failed(recurrence.id, "computing its next tick", error)
            return None
