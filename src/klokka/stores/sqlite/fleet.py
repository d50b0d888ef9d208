"""The fleet: who works, and which queues rest."""

import json
from datetime import timedelta
from typing import Final

from klokka.core.ids import WorkerId
from klokka.core.worker_records import WorkerBeat, WorkerRow
from klokka.stores._sql.statements import statement
from klokka.stores.sqlite.plans import ago, reach
from klokka.stores.sqlite.rows import worker_row
from klokka.stores.sqlite.transaction import Transaction

_BEAT: Final = statement("klokka.stores.sqlite", "beat")
_FORGET_WORKERS: Final = statement("klokka.stores.sqlite", "forget_workers")
_RETIRE_WORKER: Final = statement("klokka.stores.sqlite", "retire_worker")
_WORKERS: Final = statement("klokka.stores.sqlite", "workers")
_PAUSE_QUEUE: Final = statement("klokka.stores.sqlite", "pause_queue")
_RESUME_QUEUE: Final = statement("klokka.stores.sqlite", "resume_queue")
_PAUSED_QUEUES: Final = statement("klokka.stores.sqlite", "paused_queues")

_REMEMBERED: Final = timedelta(days=1)


def beat(tx: Transaction, worker: WorkerBeat, live_for: timedelta) -> None:
    """Notes that a worker is alive, and forgets those that have not been for a day."""
    now = tx.now()
    tx.execute(
        _BEAT,
        (
            worker.id,
            worker.host,
            worker.pid,
            worker.version,
            json.dumps(worker.queues),
            json.dumps(worker.kinds),
            json.dumps(worker.schedules),
            worker.slots,
            worker.busy,
            now,
            reach(now, live_for, "live_for"),
        ),
    )
    tx.execute(_FORGET_WORKERS, (ago(now, _REMEMBERED),))


def retire(tx: Transaction, worker: WorkerId) -> None:
    """Forgets a worker."""
    tx.execute(_RETIRE_WORKER, (worker,))


def workers(tx: Transaction) -> list[WorkerRow]:
    """Every worker that is remembered."""
    return [worker_row(row) for row in tx.execute(_WORKERS, (tx.now(),))]


def pause_queue(tx: Transaction, queue: str, reason: str) -> None:
    """Keeps claims from a queue."""
    tx.execute(_PAUSE_QUEUE, (queue, reason))


def resume_queue(tx: Transaction, queue: str) -> bool:
    """Lets claims come again; owes a hint even if nothing was paused, which costs one."""
    tx.rung = True
    return tx.changed(_RESUME_QUEUE, (queue,))


def paused_queues(tx: Transaction) -> dict[str, str]:
    """The paused queues and the reasons."""
    return dict(tx.execute(_PAUSED_QUEUES).fetchall())
