"""Saboteurs of transition."""

import asyncio
from dataclasses import replace
from datetime import datetime
from typing import Any

from klokka.core.ids import Fence, JobId
from klokka.core.names import check_text
from klokka.core.records import Change
from klokka.core.states import LEGAL, Failed, JobStatus, Scheduled, status_of
from klokka.errors import UniqueConflict
from klokka.stores.memory.rows import JobRow
from klokka.stores.memory.store import MemoryStore
from tests.tck.saboteurs.registry import breaks


@breaks("transition.cas")
class IgnoresTheTimeToCompare(MemoryStore):
    def _apply(self, change: Change, now: datetime) -> bool:
        if isinstance(change.from_, Scheduled | Failed):
            change = replace(change, from_=type(change.from_)())
        return super()._apply(change, now)


@breaks("transition.cas")
class MovesFromAnyState(MemoryStore):
    def _apply(self, change: Change, now: datetime) -> bool:
        row = self._data.table.rows.get(change.id)
        if row is None or change.fence not in (None, row.fence):
            return False
        self._move(row, status_of(change.to), row.run_at, now, error=change.error)
        return True


@breaks("transition.fence")
class IgnoresFences(MemoryStore):
    def _apply(self, change: Change, now: datetime) -> bool:
        return super()._apply(replace(change, fence=None), now)


@breaks("transition.fence")
class RefusesAfterTheEndOfTheLease(MemoryStore):
    def _apply(self, change: Change, now: datetime) -> bool:
        row = self._data.table.rows.get(change.id)
        if row is not None and row.lease_until is not None and row.lease_until <= now:
            return False
        return super()._apply(change, now)


@breaks("transition.any-edge")
class JudgesEdges(MemoryStore):
    def _apply(self, change: Change, now: datetime) -> bool:
        edges = {(origin, target) for (origin, _), target in LEGAL.items()}
        return (status_of(change.from_), status_of(change.to)) in edges and super()._apply(change, now)


@breaks("transition.times")
class KeepsTheTimeOfTheRetry(MemoryStore):
    def _move(self, row: JobRow, to: JobStatus, *rest: Any, **more: Any) -> None:
        before = row.retry_at
        super()._move(row, to, *rest, **more)
        row.retry_at = row.retry_at or before


@breaks("transition.times")
class KeepsTheHolder(MemoryStore):
    def _move(self, row: JobRow, *rest: Any, **more: Any) -> None:
        before = row.holder
        super()._move(row, *rest, **more)
        row.holder = before


@breaks("transition.once")
class LooksFirstAndMovesLater(MemoryStore):
    async def transition(self, id: JobId, **arguments: Any) -> bool:
        row = self._data.table.rows.get(id)
        stood = row is not None and row.status is status_of(arguments["from_"])
        await asyncio.sleep(0.001)
        return stood and (await super().transition(id, **arguments) or True)


@breaks("transition.error")
class RefusesBadErrorTexts(MemoryStore):
    async def transition(self, id: JobId, **arguments: Any) -> bool:
        if (error := arguments.get("error")) is not None:
            check_text("message", error.message)
        return await super().transition(id, **arguments)


@breaks("transition.error")
class ForgetsTheLastError(MemoryStore):
    def _move(self, row: JobRow, *rest: Any, **more: Any) -> None:
        row.last_error = None
        super()._move(row, *rest, **more)


@breaks("transition.refund")
class RefundsTheFenceToo(MemoryStore):
    def _move(self, row: JobRow, *rest: Any, refund: bool = False, **more: Any) -> None:
        super()._move(row, *rest, refund=refund, **more)
        row.fence = Fence(row.fence - refund)


@breaks("transition.restart")
class KeepsTheCountsOfTheFirstLife(MemoryStore):
    def _move(self, row: JobRow, *rest: Any, **more: Any) -> None:
        attempt, lapses = row.attempt, row.lapses
        super()._move(row, *rest, **more)
        row.attempt, row.lapses = min(attempt, row.attempt or attempt), lapses


@breaks("transition.reopen")
class AnswersFalseWhereTheKeyIsHeld(MemoryStore):
    async def transition(self, id: JobId, **arguments: Any) -> bool:
        try:
            return await super().transition(id, **arguments)
        except UniqueConflict:
            return False


@breaks("transition.reopen")
class ReopensASecondHolder(MemoryStore):
    def _move(self, row: JobRow, *rest: Any, **more: Any) -> None:
        if row.new.unique_key is not None:
            self._data.table.key_holders.pop(row.new.unique_key, None)
        super()._move(row, *rest, **more)
