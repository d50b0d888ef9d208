"""Enqueue, rendered apart from being run: one statement, one text as its parameter, and how its rows are read."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

import msgspec

from klokka.core.ids import JobId
from klokka.core.records import EnqueueResult, NewJob
from klokka.stores.postgres.link import Row
from klokka.stores.postgres.parameters import instant, span

_ENCODE: Final = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True)
class Insert:
    """A statement by its name, and its one parameter. `keyed` ones may be refused by a holder that is too new."""

    name: str
    jobs: str
    keyed: bool


def rendered(jobs: Sequence[NewJob]) -> Insert:
    """The statement that stores admitted jobs. Run on any connection it does so in that connection's transaction."""
    keyed = any(job.unique_key is not None for job in jobs)
    return Insert(
        name="enqueue_keyed_jobs" if keyed else "enqueue_jobs",
        jobs=_ENCODE([_fields(job) for job in jobs]).decode(),
        keyed=keyed,
    )


def results(rows: Iterable[Row]) -> list[EnqueueResult]:
    """Where each job is, in the order of the input."""
    return [EnqueueResult(id=JobId(job), created=created) for job, created, _ in rows]


def _fields(job: NewJob) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "kind": job.kind,
        "queue": job.queue,
        "payload": job.payload,
        "payload_version": job.payload_version,
    }
    if job.run_at is not None:
        if isinstance(job.run_at, timedelta):
            fields["wait"] = span(job.run_at)
        else:
            fields["run_at"] = instant(job.run_at)
    if job.unique_key is not None:
        fields["unique_key"] = job.unique_key
    if job.schedule_id is not None:
        fields["schedule_id"] = job.schedule_id
    if job.headers:
        fields["headers"] = json.dumps(dict(job.headers), ensure_ascii=False)
    return fields
