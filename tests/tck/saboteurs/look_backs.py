"""Saboteurs of stores whose claims begin where the last one has read."""

from collections.abc import Collection, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from klokka.core.ids import JobId
from klokka.spi.life import Traits
from klokka.stores.memory.rows import JobRow
from klokka.stores.memory.store import MemoryStore
from tests.tck.saboteurs.registry import breaks

SECOND = timedelta(seconds=1)
LOWEST = (datetime.min.replace(tzinfo=UTC), JobId(0))


class BeginsWhereItEnded(MemoryStore):
    """Looks at all once in a second."""

    _reached = LOWEST
    _back_at = LOWEST[0]

    @property
    def traits(self) -> Traits:
        return replace(super().traits, looks_back=SECOND)

    async def claim(self, **arguments: Any) -> list[Any]:
        if self._looks_back():
            self._reached, self._back_at = LOWEST, self._data.clock() + SECOND
        return await super().claim(**arguments)

    async def next_due(self, **arguments: Any) -> datetime | None:
        due = await super().next_due(**arguments)
        return None if due is None else min(due, self._back_at)

    def _looks_back(self) -> bool:
        return self._data.clock() >= self._back_at

    def _claimable(self, queue: str, kinds: Collection[str], now: datetime) -> Iterator[JobRow]:
        rows = self._data.table.rows.values()
        mine = [row for row in rows if row.new.queue == queue and row.new.kind in kinds]
        yield from [row for row in mine if (end := row.lease_end()) is not None and end <= now]
        places = [(due, row.id) for row in mine if (due := row.due()) is not None and due <= now]
        for place in sorted(place for place in places if place > self._reached):
            self._reached = place
            yield self._data.table.rows[place[1]]


@breaks("claim.look-back")
class NeverLooksBack(BeginsWhereItEnded):
    def _looks_back(self) -> bool:
        return False


@breaks("claim.look-back")
class SleepsThroughTheLookBack(BeginsWhereItEnded):
    async def next_due(self, **arguments: Any) -> datetime | None:
        due = await super().next_due(**arguments)
        return due if due is not None and due > self._reached[0] else None
