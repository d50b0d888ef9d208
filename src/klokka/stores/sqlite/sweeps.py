"""Sweep: bounded steps of forgetting."""

from datetime import timedelta
from typing import Final

from klokka.core.ids import MAX_ID
from klokka.core.records import RetentionPolicy, SweepReport
from klokka.core.states import JobStatus
from klokka.stores._sql.statements import statement
from klokka.stores.sqlite.plans import ago
from klokka.stores.sqlite.transaction import Transaction

_SWEEP_JOBS: Final = statement("klokka.stores.sqlite", "sweep_jobs")
_SWEEPABLE_JOB: Final = statement("klokka.stores.sqlite", "sweepable_job")
_SWEEP_KEYS: Final = statement("klokka.stores.sqlite", "sweep_keys")
_SWEEPABLE_KEY: Final = statement("klokka.stores.sqlite", "sweepable_key")


def sweep(tx: Transaction, retention: RetentionPolicy, limit: int) -> SweepReport:
    """One step: at most `limit` jobs and at most `limit` keys."""
    now = tx.now()
    limit = min(limit, MAX_ID)
    ends = [(status.value, ago(now, kept)) for status, kept in _kept(retention) if kept is not None]
    jobs = 0
    for status, end in ends:
        jobs += tx.execute(_SWEEP_JOBS, (status, end, limit - jobs)).rowcount
    keys = tx.execute(_SWEEP_KEYS, (now, limit)).rowcount
    more = bool(tx.value(_SWEEPABLE_KEY, (now,))) or any(tx.value(_SWEEPABLE_JOB, end) for end in ends)
    return SweepReport(jobs=jobs, keys=keys, more=more)


def _kept(retention: RetentionPolicy) -> list[tuple[JobStatus, timedelta | None]]:
    return [
        (JobStatus.SUCCEEDED, retention.succeeded_for),
        (JobStatus.CANCELLED, retention.cancelled_for),
        (JobStatus.DEAD_LETTERED, retention.dead_lettered_for),
    ]
