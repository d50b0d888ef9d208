"""Who works, and which queues rest."""

from collections.abc import Mapping
from datetime import timedelta

from klokka.core.ids import WorkerId
from klokka.core.instants import positive
from klokka.core.names import check_queue
from klokka.core.worker_records import WorkerBeat, WorkerRow
from klokka.stores._doors import check_beat, check_reason
from klokka.stores.postgres.handle import Handle
from klokka.stores.postgres.parameters import span, texts
from klokka.stores.postgres.rows import worker_row


class Fleet(Handle):
    """Implements `FleetStore`."""

    async def beat(self, worker: WorkerBeat, *, live_for: timedelta) -> None:
        positive(live_for, "live_for")
        check_beat(worker)
        await self._database.write(
            "beat",
            worker.id,
            worker.host,
            str(worker.pid),
            worker.version,
            texts(worker.queues),
            texts(worker.kinds),
            texts(worker.schedules),
            str(worker.slots),
            str(worker.busy),
            span(live_for),
        )

    async def retire(self, worker: WorkerId) -> None:
        await self._database.write("retire_worker", worker)

    async def workers(self) -> list[WorkerRow]:
        return [worker_row(row) for row in await self._database.read("workers")]

    async def pause_queue(self, queue: str, reason: str) -> None:
        check_queue(queue)
        check_reason(reason, self._setting.limits)
        await self._database.write("pause_queue", queue, reason)

    async def resume_queue(self, queue: str) -> bool:
        return bool(await self._database.write("resume_queue", queue))

    async def paused_queues(self) -> Mapping[str, str]:
        return dict(await self._database.read("paused_queues"))
