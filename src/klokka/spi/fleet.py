"""The capability of knowing the fleet: live workers and paused queues."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Protocol, runtime_checkable

from klokka.core.ids import WorkerId
from klokka.core.worker_records import WorkerBeat, WorkerRow


@runtime_checkable
class FleetStore(Protocol):
    """A store that knows who works and which queues rest."""

    async def beat(self, worker: WorkerBeat, *, live_for: timedelta) -> None:
        """Notes that `worker` is alive, for `live_for` from the store's now.

        [fleet.beat] A worker is live by the store's clock, up to but not including the end. Rows of workers that
        have not been live for a day may be forgotten.
        """
        ...

    async def retire(self, worker: WorkerId) -> None:
        """Forgets a worker that ends in order; unknown ids are no error [fleet.beat]."""
        ...

    async def workers(self) -> list[WorkerRow]:
        """Every worker that is remembered, live ones first, then by last beat, latest first [fleet.beat]."""
        ...

    async def pause_queue(self, queue: str, reason: str) -> None:
        """Stops claims from a queue, known or not; paused again, the later reason stands.

        [fleet.pause] A paused queue gives no claims and takes enqueues; its running jobs go on and settle, and an
        ended lease of it waits too.
        """
        ...

    async def resume_queue(self, queue: str) -> bool:
        """Lets claims come again, gives a wakeup, and says whether it was paused [fleet.pause]."""
        ...

    async def paused_queues(self) -> Mapping[str, str]:
        """The paused queues and the reasons [fleet.pause]."""
        ...
