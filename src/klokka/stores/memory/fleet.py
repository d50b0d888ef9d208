"""Who works, and which queues rest."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Final

from klokka.core.ids import WorkerId
from klokka.core.instants import after, positive
from klokka.core.names import check_queue, check_text
from klokka.core.worker_records import WorkerBeat, WorkerRow
from klokka.stores.memory.data import Worker
from klokka.stores.memory.handle import Handle

_REMEMBERED: Final = timedelta(days=1)


class Fleet(Handle):
    """Implements `FleetStore`."""

    async def beat(self, worker: WorkerBeat, *, live_for: timedelta) -> None:
        positive(live_for, "live_for")
        with self._statement() as now:
            workers = self._data.workers
            for gone in [it for it, known in workers.items() if now - known.live_until > _REMEMBERED]:
                del workers[gone]
            known = workers.get(worker.id)
            workers[worker.id] = Worker(
                beat=worker,
                started_at=now if known is None else known.started_at,
                last_beat=now,
                live_until=after(now, live_for, "live_for"),
            )

    async def retire(self, worker: WorkerId) -> None:
        with self._statement():
            self._data.workers.pop(worker, None)

    async def workers(self) -> list[WorkerRow]:
        with self._statement() as now:
            rows = [
                WorkerRow(
                    beat=worker.beat,
                    started_at=worker.started_at,
                    last_beat=worker.last_beat,
                    live=now < worker.live_until,
                )
                for worker in self._data.workers.values()
            ]
        return sorted(rows, key=lambda row: (row.live, row.last_beat), reverse=True)

    async def pause_queue(self, queue: str, reason: str) -> None:
        check_queue(queue)
        check_text("reason", reason)
        with self._statement():
            self._data.paused[queue] = reason

    async def resume_queue(self, queue: str) -> bool:
        with self._statement():
            was_paused = self._data.paused.pop(queue, None) is not None
            if was_paused:
                self._data.work.ring()
            return was_paused

    async def paused_queues(self) -> Mapping[str, str]:
        with self._statement():
            return dict(self._data.paused)
