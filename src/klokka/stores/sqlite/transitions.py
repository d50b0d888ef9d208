"""Transition: compare and set of a job's state."""

import json
import sqlite3
from collections import defaultdict
from collections.abc import Sequence
from typing import Any, Final

from klokka.core.error_text import storable
from klokka.core.ids import MAX_ID, JobId
from klokka.core.instants import micros
from klokka.core.records import Change
from klokka.core.states import (
    LIVE,
    TERMINAL,
    WAITING,
    Cancelled,
    DeadLettered,
    JobStatus,
    Running,
    Succeeded,
    status_of,
    time_of,
)
from klokka.errors import UniqueConflict
from klokka.stores._sql.statements import statement
from klokka.stores.sqlite.plans import planned
from klokka.stores.sqlite.transaction import Transaction

_SETTLE_JOBS: Final = statement("klokka.stores.sqlite", "settle_jobs")
_TRANSITION_JOB: Final = statement("klokka.stores.sqlite", "transition_job")
_ENDS: Final = (Succeeded, DeadLettered, Cancelled)
_KEY_RIVAL: Final = statement("klokka.stores.sqlite", "key_rival")


def transition(tx: Transaction, change: Change) -> bool:
    """Applies a checked change if the job is still where it says.

    Raises:
        UniqueConflict: another live job holds the key of the one to be reopened.
    """
    if not _possible(change):
        return False
    now = tx.now()
    if _is_settlement(change):
        return _settled(tx, [change], now) == 1
    to = status_of(change.to)
    try:
        applied = tx.changed(_TRANSITION_JOB, _parameters(change, to, now))
    except sqlite3.IntegrityError as error:
        raise conflict(tx, change.id) from error
    tx.rung = tx.rung or (applied and to in WAITING)
    return applied


def transition_many(tx: Transaction, changes: Sequence[Change]) -> list[bool]:
    """Applies each by the rules of `transition`; a conflicting one is refused like a stale one [batch.each]."""
    if all(_is_settlement(change) and _possible(change) for change in changes) and _all_settled(tx, changes):
        return [True] * len(changes)
    return [_applied(tx, change) for change in changes]


def conflict(tx: Transaction, id: JobId) -> UniqueConflict:
    """The error that names who holds the key of job `id`."""
    holder: int = tx.value(_KEY_RIVAL, (id,))
    return UniqueConflict(
        f"Job {id} cannot be opened again: job {holder} is live and holds its unique key. "
        f"Wait until that one has ended, or cancel it.",
        holder=holder,
    )


def _all_settled(tx: Transaction, changes: Sequence[Change]) -> bool:
    """Whether all of them applied together, which tells how many did and not which: undone if one did not."""
    tx.execute("savepoint settlements")
    all_applied = _settled(tx, changes, tx.now()) == len(changes)
    if not all_applied:
        tx.execute("rollback to settlements")
    tx.execute("release settlements")
    return all_applied


def _settled(tx: Transaction, changes: Sequence[Change], now: int) -> int:
    """How many settlements applied; one statement for each state and fence, and most jobs are at their first."""
    groups: defaultdict[tuple[type, int | None], list[Change]] = defaultdict(list)
    for change in changes:
        groups[type(change.to), change.fence].append(change)
    applied = 0
    for (_, fence), alike in groups.items():
        to, ids = status_of(alike[0].to), json.dumps([change.id for change in alike])
        applied += tx.execute(_SETTLE_JOBS, (to.value, now, ids, fence)).rowcount
    return applied


def _is_settlement(change: Change) -> bool:
    """Whether it is the commonest change: a holder's own, to the end, with no error to keep."""
    return (
        change.fence is not None
        and change.error is None
        and isinstance(change.from_, Running)
        and isinstance(change.to, _ENDS)
        and not change.refund
    )


def _applied(tx: Transaction, change: Change) -> bool:
    try:
        return transition(tx, change)
    except UniqueConflict:
        return False


def _possible(change: Change) -> bool:
    """Whether the store can have given out such an id and fence [life.arguments]."""
    return 0 < change.id <= MAX_ID and (change.fence is None or 0 <= change.fence <= MAX_ID)


def _parameters(change: Change, to: JobStatus, now: int) -> dict[str, Any]:
    from_ = status_of(change.from_)
    from_time = time_of(change.from_)
    due = planned(time_of(change.to), now, "the time of the new state") if to in WAITING else None
    error = None if change.error is None else storable(change.error)
    return {
        "id": change.id,
        "from": from_.value,
        "from_time": None if from_time is None else planned(from_time, now, "from_"),
        "fence": change.fence,
        "to": to.value,
        "due_at": due,
        "run_at": None if to is JobStatus.FAILED else due,
        "terminal_at": now if to in TERMINAL else None,
        "restart": from_ in TERMINAL and to in LIVE,
        "refund": int(change.refund),
        "error_type": None if error is None else error.type,
        "error_message": None if error is None else error.message,
        "error_traceback": None if error is None else error.traceback,
        "error_attempt": None if error is None else error.attempt,
        "error_at": None if error is None else now if error.at is None else micros(error.at),
    }
