"""Verbs of operators: from whatever state the job or the schedule is in."""

import sqlite3
from datetime import datetime
from typing import Final

from klokka.core.ids import JobId, ScheduleId
from klokka.core.instants import micros
from klokka.stores._sql.statements import statement
from klokka.stores.sqlite.transaction import Transaction
from klokka.stores.sqlite.transitions import conflict

_CANCEL_JOB: Final = statement("klokka.stores.sqlite", "cancel_job")
_REQUEUE_JOB: Final = statement("klokka.stores.sqlite", "requeue_job")
_DELETE_JOB: Final = statement("klokka.stores.sqlite", "delete_job")
_PAUSE_SCHEDULE: Final = statement("klokka.stores.sqlite", "pause_schedule")
_RESUME_SCHEDULE: Final = statement("klokka.stores.sqlite", "resume_schedule")


def cancel(tx: Transaction, id: JobId) -> bool:
    """Cancels a job that is not terminal."""
    return tx.changed(_CANCEL_JOB, (tx.now(), id))


def requeue(tx: Transaction, id: JobId) -> bool:
    """Makes a terminal job due now.

    Raises:
        UniqueConflict: another live job holds its key.
    """
    try:
        applied = tx.changed(_REQUEUE_JOB, (tx.now(), id))
    except sqlite3.IntegrityError as error:
        raise conflict(tx, id) from error
    tx.rung = tx.rung or applied
    return applied


def delete(tx: Transaction, id: JobId) -> bool:
    """Removes a job."""
    return tx.changed(_DELETE_JOB, (id,))


def pause_schedule(tx: Transaction, id: ScheduleId, reason: str) -> bool:
    """Keeps a schedule from being due."""
    return tx.changed(_PAUSE_SCHEDULE, (reason, id))


def resume_schedule(tx: Transaction, id: ScheduleId, next_fire_at: datetime | None) -> bool:
    """Ends a pause."""
    applied = tx.changed(_RESUME_SCHEDULE, (None if next_fire_at is None else micros(next_fire_at), id))
    tx.rung = tx.rung or applied
    return applied
