"""The model: what it takes for right, and which clause it names where an answer is wrong."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from klokka.core.ids import Fence, JobId, WorkerId
from klokka.core.records import Change, ClaimedJob, EnqueueResult, NewJob
from klokka.core.states import Enqueued, Running, Scheduled, Succeeded
from klokka.core.worker_records import WorkerBeat, WorkerRow
from klokka.tck.model.crew import Crew
from klokka.tck.model.work import Work
from klokka.tck.violations import Violation

NOW = datetime(2026, 1, 1, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
ASKED: dict[str, Any] = {
    "queues": ["a"],
    "kinds": {"k"},
    "limit": 9,
    "lease": MINUTE,
    "worker": WorkerId("w"),
    "caps": {},
}


def with_jobs(*jobs: NewJob) -> Work:
    work = Work()
    work.enqueue(NOW, jobs, [EnqueueResult(id=JobId(number), created=True) for number in range(1, len(jobs) + 1)])
    return work


def job(**fields: Any) -> NewJob:
    return NewJob(kind="k", payload="{}", queue="a", **fields)


def claimed(work: Work, id_: int, now: datetime, fence: int) -> ClaimedJob:
    taken = work.jobs[JobId(id_)].taken(fence=Fence(fence), worker=WorkerId("w"), until=now + MINUTE)
    seen = taken.as_claimed()
    assert seen is not None
    return seen


def broken(act: Any) -> tuple[str, ...]:
    with pytest.raises(Violation) as caught:
        act()
    return caught.value.clauses


def test_any_higher_fence_is_right_and_is_kept() -> None:
    work = with_jobs(job())

    work.claim(NOW, [claimed(work, 1, NOW, fence=7)], **ASKED)

    assert work.jobs[JobId(1)].fence == 7


def test_a_claim_of_what_another_holds_breaks_exclusivity() -> None:
    work = with_jobs(job())
    work.claim(NOW, [claimed(work, 1, NOW, fence=1)], **ASKED)

    assert broken(lambda: work.claim(NOW, [claimed(work, 1, NOW, fence=2)], **ASKED)) == ("claim.exclusive",)


def test_an_ended_lease_must_come_before_what_is_due() -> None:
    work = with_jobs(job(), job(run_at=MINUTE))
    work.claim(NOW, [claimed(work, 1, NOW, fence=1)], **ASKED)
    later = NOW + MINUTE

    only_new = [claimed(work, 2, later, fence=1)]

    assert broken(lambda: work.claim(later, only_new, **ASKED)) == ("claim.expired",)


def test_a_job_before_its_time_breaks_due() -> None:
    work = with_jobs(job(run_at=MINUTE))

    assert broken(lambda: work.claim(NOW, [claimed(work, 1, NOW, fence=1)], **ASKED)) == ("claim.due",)


def test_a_key_that_is_held_gives_its_holder() -> None:
    work = with_jobs(job(unique_key="key"))

    work.enqueue(NOW, [job(unique_key="key")], [EnqueueResult(id=JobId(1), created=False)])

    second = [EnqueueResult(id=JobId(2), created=True)]
    assert "enqueue.unique" in broken(lambda: work.enqueue(NOW, [job(unique_key="key")], second))


def test_promotion_is_the_stores_to_time() -> None:
    for seen in (True, False):
        work = with_jobs(job(run_at=MINUTE))
        work.change(NOW + MINUTE, seen, Change(id=JobId(1), from_=Scheduled(), to=Succeeded()))
        work = with_jobs(job(run_at=MINUTE))
        work.change(NOW + MINUTE, seen, Change(id=JobId(1), from_=Enqueued(), to=Succeeded()))


def test_a_stale_fence_changes_nothing() -> None:
    work = with_jobs(job())
    work.claim(NOW, [claimed(work, 1, NOW, fence=3)], **ASKED)
    stale = Change(id=JobId(1), from_=Running(), to=Succeeded(), fence=Fence(2))

    work.change(NOW, False, stale)

    assert broken(lambda: work.change(NOW, True, stale)) == ("transition.fence",)


@pytest.mark.parametrize("begins_anew", [False, True])
def test_a_worker_that_may_have_been_forgotten_begins_anew_or_goes_on(begins_anew: bool) -> None:
    crew, worker = Crew(), WorkerBeat(id=WorkerId("w"), host="h", pid=1, version="1", queues=(), kinds=())
    later = NOW + MINUTE + timedelta(days=1)
    crew.beat(NOW, worker, MINUTE)
    crew.beat(later, worker, MINUTE)

    seen = WorkerRow(beat=worker, started_at=later if begins_anew else NOW, last_beat=later, live=True)
    crew.listed(later, [seen])

    other = replace(seen, started_at=NOW if begins_anew else later)
    assert broken(lambda: crew.listed(later, [other])) == ("fleet.beat",)


def test_a_worker_that_may_not_have_been_forgotten_goes_on() -> None:
    crew, worker = Crew(), WorkerBeat(id=WorkerId("w"), host="h", pid=1, version="1", queues=(), kinds=())
    later = NOW + timedelta(days=1)
    crew.beat(NOW, worker, MINUTE)
    crew.beat(later, worker, MINUTE)

    anew = WorkerRow(beat=worker, started_at=later, last_beat=later, live=True)
    assert broken(lambda: crew.listed(later, [anew])) == ("fleet.beat",)
