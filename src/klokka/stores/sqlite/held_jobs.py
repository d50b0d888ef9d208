"""What the holder of a job may do besides ending it: keep the lease, report progress."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Final

from klokka.core.ids import Fence, JobId, WorkerId
from klokka.stores._sql.statements import statement
from klokka.stores.sqlite.plans import reach
from klokka.stores.sqlite.transaction import Transaction

_EXTEND_LEASE: Final = statement("klokka.stores.sqlite", "extend_lease")
_REPORT_PROGRESS: Final = statement("klokka.stores.sqlite", "report_progress")


def heartbeat(tx: Transaction, held: Mapping[JobId, Fence], *, worker: WorkerId, extend: timedelta) -> set[JobId]:
    """Extends the leases of possible ids and says which are held."""
    now = tx.now()
    until = reach(now, extend, "extend")
    return {job for job, fence in held.items() if tx.changed(_EXTEND_LEASE, (until, job, fence, worker, now))}


def report_progress(tx: Transaction, id: JobId, *, fence: Fence, value: float) -> bool:
    """Keeps how far a running job is."""
    return tx.changed(_REPORT_PROGRESS, (float(value), id, fence))
