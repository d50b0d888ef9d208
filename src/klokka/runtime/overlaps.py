"""Keeps fires back while the last run of their schedule is live, where runs may not overlap."""

from collections.abc import Iterable
from typing import Final

from klokka.core.ids import ScheduleId
from klokka.core.records import JobQuery
from klokka.core.schedule_records import ScheduleFire
from klokka.errors import UnsupportedByStore
from klokka.runtime.recurrence import Recurrence
from klokka.spi.query import QueryableStore
from klokka.spi.store import JobStore

LOOK_EVERY: Final = 0.5
"""Seconds between looks at a run that a fire waits for."""
_RECENT: Final = 20
"""A live run among the latest so many; one that an operator brought back from before them the unique key still stops."""


class Overlaps:
    """The fires that wait for a run to end. Each stays due in the store, so nothing is lost with this process."""

    def __init__(self, store: JobStore) -> None:
        self._store = store
        self._waiting: dict[ScheduleId, ScheduleFire] = {}

    def __len__(self) -> int:
        return len(self._waiting)

    def __contains__(self, id: ScheduleId) -> bool:
        return id in self._waiting

    @property
    def waiting(self) -> list[ScheduleFire]:
        """All that are kept back."""
        return list(self._waiting.values())

    def keep(self, fire: ScheduleFire) -> None:
        """Keeps a fire back, in the place of an older claim of it."""
        self._waiting[fire.schedule_id] = fire

    def release(self, id: ScheduleId) -> None:
        """Its fire is decided."""
        self._waiting.pop(id, None)

    async def busy(self, recurrence: Recurrence) -> bool:
        """Whether a run is live that the next one may not overlap."""
        if recurrence.shared_key is None or not isinstance(self._store, QueryableStore):
            return False
        latest = await self._store.list_jobs(JobQuery(unique_key=recurrence.shared_key, limit=_RECENT))
        return any(job.terminal_at is None for job in latest)


def check_overlaps(store: JobStore, recurrences: Iterable[Recurrence]) -> None:
    """Returns if the store can show whether a run is live, where that must be known.

    Raises:
        UnsupportedByStore: it cannot.
    """
    if not isinstance(store, QueryableStore):
        for recurrence in recurrences:
            if not recurrence.overlap:
                raise UnsupportedByStore(
                    f"schedule {recurrence.id!r} has overlap=False, which needs a store with the capability "
                    f"QueryableStore, and {store.traits.name!r} lacks it. Choose another store, or allow the overlap."
                )
