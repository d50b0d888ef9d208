"""The workers of the model."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from klokka.core.ids import WorkerId
from klokka.core.worker_records import WorkerBeat, WorkerRow
from klokka.tck.violations import expect

_REMEMBERED: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelWorker:
    beat: WorkerBeat
    started_at: tuple[datetime, ...]
    """When it may have started: one that may have been forgotten meanwhile begins anew, or goes on."""
    last_beat: datetime
    live_until: datetime


class Crew:
    """Every worker that has beaten and not retired."""

    def __init__(self) -> None:
        self.workers: dict[WorkerId, ModelWorker] = {}

    def beat(self, now: datetime, worker: WorkerBeat, live_for: timedelta) -> None:
        known = self.workers.get(worker.id)
        started_at = (now,) if known is None else known.started_at
        if known is not None and self._forgettable(known, now):
            started_at += (now,)
        self.workers[worker.id] = ModelWorker(
            beat=worker,
            started_at=started_at,
            last_beat=now,
            live_until=now + live_for,
        )

    def retire(self, worker: WorkerId) -> None:
        self.workers.pop(worker, None)

    def listed(self, now: datetime, seen: Sequence[WorkerRow]) -> None:
        known = [worker for worker in self.workers.values() if not self._forgettable(worker, now)]
        started = {row.beat.id: row.started_at for row in seen}
        for worker in known:
            at = started.get(worker.beat.id, worker.started_at[0])
            expect(at, "fleet.beat").is_in(worker.started_at, f"when {worker.beat.id} started")
            self.workers[worker.beat.id] = replace(worker, started_at=(at,))
        expected = {
            worker.beat.id: WorkerRow(
                beat=worker.beat,
                started_at=self.workers[worker.beat.id].started_at[0],
                last_beat=worker.last_beat,
                live=now < worker.live_until,
            )
            for worker in known
        }
        rows = {row.beat.id: row for row in seen if row.beat.id in expected}
        expect(rows, "fleet.beat").equals(expected, "every worker that was live within the last day, as it said")
        order = [(row.live, row.last_beat) for row in seen]
        expect(order, "fleet.beat").equals(sorted(order, reverse=True), "live ones first, then by last beat")
        strangers = {row.beat.id for row in seen} - set(self.workers)
        expect(strangers, "fleet.beat").equals(set[WorkerId](), "a worker that has retired is forgotten")

    @staticmethod
    def _forgettable(worker: ModelWorker, now: datetime) -> bool:
        return now - worker.live_until >= _REMEMBERED
