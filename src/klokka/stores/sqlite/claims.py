"""Claim and the look ahead: which jobs are due, in which order, and who takes them."""

import json
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from operator import itemgetter
from typing import Any, Final

from klokka.core.ids import MAX_ID, WorkerId
from klokka.core.instants import instant
from klokka.core.records import ClaimedJob
from klokka.stores._sql.statements import statement
from klokka.stores.sqlite.plans import reach
from klokka.stores.sqlite.rows import claimed_job
from klokka.stores.sqlite.transaction import Transaction

_ENDED: Final = statement("klokka.stores.sqlite", "claimable_ended")
_DUE: Final = statement("klokka.stores.sqlite", "claimable_due")
_CLAIM_JOBS: Final = statement("klokka.stores.sqlite", "claim_jobs")
_NEXT_DUE: Final = statement("klokka.stores.sqlite", "next_due")
_PAUSED: Final = statement("klokka.stores.sqlite", "paused_queues")

_BRANCHES: Final = 100
"""Of one statement; SQLite takes 500."""

_AT: Final = -2
"""Where the time stands in a row, by which it is merged."""

Row = tuple[Any, ...]


def claim(
    tx: Transaction,
    *,
    queues: Sequence[str],
    kinds: Sequence[str],
    limit: int,
    lease: timedelta,
    worker: WorkerId,
    caps: Mapping[str, int],
) -> list[ClaimedJob]:
    """Takes the first `limit` of the order of `claim`, under the writer's place: nobody else decides meanwhile."""
    now = tx.now()
    until = reach(now, lease, "lease")
    paused = {queue for queue, _ in tx.execute(_PAUSED)}
    rows: list[Row] = []
    for queue in queues:
        if queue in paused:
            continue
        room = min(limit - len(rows), caps.get(queue, MAX_ID), MAX_ID)
        if room > 0:
            rows += _head(tx, queue, kinds, now, room)
    if rows:
        tx.execute(_CLAIM_JOBS, (until, worker, json.dumps([row[0] for row in rows])))
    end = instant(until)
    return [claimed_job(row, end) for row in rows]


def next_due(tx: Transaction, *, queues: Collection[str], kinds: Collection[str]) -> datetime | None:
    """The earliest time at which a claim would give something."""
    at = tx.value(_NEXT_DUE, (json.dumps(list(queues)), json.dumps(list(kinds))))
    return None if at is None else instant(at)


def _head(tx: Transaction, queue: str, kinds: Sequence[str], now: int, room: int) -> list[Row]:
    """The first `room` jobs of a queue: ended leases, which were started once and must not starve, then due ones."""
    ended = _merged(tx, _ENDED, queue, kinds, now, room)
    if len(ended) == room:
        return ended
    return ended + _merged(tx, _DUE, queue, kinds, now, room - len(ended))


def _merged(tx: Transaction, branch: str, queue: str, kinds: Sequence[str], now: int, room: int) -> list[Row]:
    if len(kinds) <= _BRANCHES:
        return _branches(tx, branch, queue, kinds, now, room)
    rows: list[Row] = []
    for start in range(0, len(kinds), _BRANCHES):
        rows += _branches(tx, branch, queue, kinds[start : start + _BRANCHES], now, room)
    rows.sort(key=itemgetter(_AT, 0))
    return rows[:room]


def _branches(tx: Transaction, branch: str, queue: str, kinds: Sequence[str], now: int, room: int) -> list[Row]:
    parameters: list[Any] = []
    for kind in kinds:
        parameters += (queue, kind, now)
    parameters.append(room)
    return tx.execute(joined(branch, len(kinds)), parameters).fetchall()


@lru_cache(maxsize=256)
def joined(branch: str, count: int) -> str:
    """The look of `count` kinds as one statement."""
    return "\nunion all\n".join([branch] * count) + "\norder by at, id\nlimit ?"
