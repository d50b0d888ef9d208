"""Enqueue: new jobs, their ids and their keys."""

import json
from collections.abc import Sequence
from typing import Any, Final

from klokka.core.ids import JobId
from klokka.core.records import EnqueueResult, NewJob
from klokka.stores._sql.statements import statement
from klokka.stores.sqlite.plans import planned
from klokka.stores.sqlite.transaction import Transaction

_LAST_ID: Final = statement("klokka.stores.sqlite", "last_id")
_KEY_HOLDER: Final = statement("klokka.stores.sqlite", "key_holder")
_INSERT_JOB: Final = statement("klokka.stores.sqlite", "insert_job")


def enqueue(tx: Transaction, jobs: Sequence[NewJob]) -> list[EnqueueResult]:
    """Stores admitted jobs by the rules of `enqueue`. The caller holds the writer's place.

    Ids are dealt here and not by SQLite: one executemany over known ids is the fastest insert there is, and says
    which job got which.
    """
    now = tx.now()
    last: int = tx.value(_LAST_ID)
    rows: list[tuple[Any, ...]] = []
    results: list[EnqueueResult] = []
    given: dict[str, int] = {}
    for job in jobs:
        key = job.unique_key
        if key is not None:
            holder = given.get(key) or tx.value(_KEY_HOLDER, (key,))
            if holder is not None:
                results.append(EnqueueResult(id=JobId(holder), created=False))
                continue
            given[key] = last + 1
        last += 1
        rows.append(_row(last, job, now))
        results.append(EnqueueResult(id=JobId(last), created=True))
    if rows:
        tx.executemany(_INSERT_JOB, rows)
        tx.rung = True
        tx.last_id = last
    return results


def _row(id: int, job: NewJob, now: int) -> tuple[Any, ...]:
    due = now if job.run_at is None else planned(job.run_at, now, "run_at")
    return (
        id,
        "enqueued" if due <= now else "scheduled",
        job.queue,
        job.kind,
        job.payload_version,
        now,
        due,
        job.unique_key,
        job.schedule_id,
        job.payload,
        json.dumps(dict(job.headers), ensure_ascii=False) if job.headers else None,
    )
