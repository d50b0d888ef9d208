"""transition and its batch: compare, and set."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from klokka.core.changes import check_change
from klokka.core.error_text import storable
from klokka.core.ids import Fence, JobId
from klokka.core.instants import after, aware
from klokka.core.records import Change, JobError
from klokka.core.states import TERMINAL, JobStatus, State, status_of, time_of
from klokka.errors import UniqueConflict
from klokka.stores.memory.data import KeyReserved
from klokka.stores.memory.handle import Handle
from klokka.stores.memory.rows import JobRow


class Transitioning(Handle):
    """Implements `JobVerbs.transition` and `BatchingStore`."""

    async def transition(
        self,
        id: JobId,
        *,
        from_: State,
        to: State,
        fence: Fence | None = None,
        error: JobError | None = None,
        refund: bool = False,
    ) -> bool:
        change = admitted(Change(id=id, from_=from_, to=to, fence=fence, error=error, refund=refund))
        return await self._settled(lambda now: self._apply(change, now))

    async def transition_many(self, changes: Sequence[Change]) -> list[bool]:
        wanted = [admitted(change) for change in changes]
        answers: list[bool] = []
        with self._statement() as now:
            for change in wanted:
                after_plan(change.to, now)
            for change in wanted:
                try:
                    answers.append(self._apply(change, now))
                except (UniqueConflict, KeyReserved):
                    answers.append(False)
        return answers

    def _apply(self, change: Change, now: datetime) -> bool:
        planned_at = after_plan(change.to, now)
        row = self._data.table.rows.get(change.id)
        if row is None or not stands(row, change.from_) or change.fence not in (None, row.fence):
            return False
        self._move(row, status_of(change.to), planned_at, now, error=change.error, refund=change.refund)
        return True

    def _move(
        self,
        row: JobRow,
        to: JobStatus,
        planned_at: datetime | None,
        now: datetime,
        *,
        error: JobError | None = None,
        refund: bool = False,
    ) -> None:
        """Sets the new state with all that belongs to it [transition.times] [transition.restart] [transition.reopen].

        Raises:
            UniqueConflict: another live job holds the key; nothing was changed.
            KeyReserved: that is not decided yet; nothing was changed.
        """
        restarts = row.terminal and to not in TERMINAL
        if restarts and row.new.unique_key is not None:
            holder = self._data.holder(row.new.unique_key)
            if holder is not None:
                raise UniqueConflict(
                    f"job {row.id} cannot start again: job {holder} holds its unique key now.", holder=holder
                )
        if error is not None:
            row.last_error = replace(
                error,
                attempt=row.attempt if error.attempt is None else error.attempt,
                at=now if error.at is None else error.at,
            )
        if restarts:
            row.attempt = row.lapses = 0
        if refund:
            row.attempt -= 1
        row.status = to
        row.lease_until = row.holder = None
        row.retry_at = planned_at if to is JobStatus.FAILED else None
        row.terminal_at = now if to in TERMINAL else None
        if to is JobStatus.SCHEDULED and planned_at is not None:
            row.run_at = planned_at
        elif to is JobStatus.ENQUEUED:
            row.run_at = now
        self._data.table.moved(row)
        if to not in TERMINAL:
            self._data.work.ring()


def admitted(change: Change) -> Change:
    """The change with an error that can be kept, once it is known that it may be applied at all.

    Raises:
        InvalidInput: see `check_change` and `storable`.
    """
    check_change(change)
    return change if change.error is None else replace(change, error=storable(change.error))


def after_plan(to: State, now: datetime) -> datetime | None:
    """The instant that a target state names, by the store's clock."""
    planned_at = time_of(to)
    if planned_at is None or isinstance(planned_at, datetime):
        return planned_at if planned_at is None else aware(planned_at)
    return after(now, planned_at)


def stands(row: JobRow, from_: State) -> bool:
    """Whether the row is in that state, at that time if one is given [transition.cas]."""
    expected_at = time_of(from_)
    stored_at = row.retry_at if row.status is JobStatus.FAILED else row.run_at
    return row.status is status_of(from_) and expected_at in (None, stored_at)
