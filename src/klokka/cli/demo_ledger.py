"""What became of the demo's jobs, counted from the store and from the workers' own notes."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from klokka.core.ids import JobId
from klokka.core.records import JobQuery, JobSummary
from klokka.core.states import JobStatus
from klokka.spi.query import QueryableStore

PAGE = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    """The demo's result. Every job that was acknowledged is in it, or counted as lost.

    `retried` are jobs that took more than one attempt, `started_twice` those whose handler was started again because
    the worker that ran them died: at-least-once, seen.
    """

    enqueued: int
    succeeded: int
    retried: int
    dead_lettered: int
    lost: int
    started_twice: int

    def as_dict(self) -> dict[str, int]:
        """The ledger with its names, for JSON."""
        return asdict(self)


async def close_books(store: QueryableStore, acknowledged: Iterable[JobId], notes: Path) -> Ledger:
    """Looks every acknowledged id up: whatever has not ended, or is gone, is lost."""
    ids = set(acknowledged)
    jobs = {job.id: job for job in await _all_jobs(store) if job.id in ids}
    succeeded = sum(job.status is JobStatus.SUCCEEDED for job in jobs.values())
    dead = sum(job.status is JobStatus.DEAD_LETTERED for job in jobs.values())
    return Ledger(
        enqueued=len(ids),
        succeeded=succeeded,
        retried=sum(job.attempt > 1 for job in jobs.values()),
        dead_lettered=dead,
        lost=len(ids) - succeeded - dead,
        started_twice=len(ids & _started_under_two_lapses(notes)),
    )


async def _all_jobs(store: QueryableStore) -> list[JobSummary]:
    jobs: list[JobSummary] = []
    page = await store.list_jobs(JobQuery(limit=PAGE))
    while page:
        jobs += page
        page = await store.list_jobs(JobQuery(limit=PAGE, before=page[-1].id))
    return jobs


def _started_under_two_lapses(notes: Path) -> set[JobId]:
    lapses: dict[JobId, set[int]] = defaultdict(set)
    for file in notes.glob("*.starts"):
        for line in file.read_text().splitlines():
            job, lapse = line.split()
            lapses[JobId(int(job))].add(int(lapse))
    return {job for job, seen in lapses.items() if len(seen) > 1}
