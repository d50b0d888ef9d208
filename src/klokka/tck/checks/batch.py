"""transition_many: each change for itself, in order."""

from datetime import timedelta

from klokka.core.ids import MAX_ID, Fence, JobId
from klokka.core.records import Change, JobError
from klokka.core.states import Cancelled, DeadLettered, Enqueued, Failed, JobStatus, Running, Scheduled, Succeeded
from klokka.errors import InvalidInput
from klokka.spi.batch import BatchingStore
from klokka.spi.query import QueryableStore
from klokka.spi.store import JobStore
from klokka.tck.bench import HOUR, OTHER_WORKER, Bench
from klokka.tck.check import check
from klokka.tck.violations import expect, expect_refusal


def _done(job: JobId, fence: Fence) -> Change:
    return Change(id=job, from_=Running(), to=Succeeded(), fence=fence)


@check("batch.each", needs=(BatchingStore, QueryableStore))
async def each_change_has_its_answer_in_order_and_spoils_no_other(bench: Bench) -> None:
    await bench.enqueue_many(6)
    jobs = await bench.claim()
    old = await bench.standing(Succeeded(), unique_key="k")
    await bench.enqueue_one(unique_key="k", run_at=HOUR)
    changes = [
        _done(jobs[0].id, jobs[0].fence),
        _done(JobId(jobs[5].id + 1000), jobs[0].fence),
        _done(jobs[1].id, Fence(jobs[1].fence + 1)),
        Change(id=jobs[2].id, from_=Enqueued(), to=Cancelled()),
        Change(id=old, from_=Succeeded(), to=Enqueued()),
        _done(JobId(MAX_ID + 1), jobs[0].fence),
        Change(
            id=jobs[3].id, from_=Running(), to=Failed(HOUR), fence=jobs[3].fence, error=JobError(type="E", message="m")
        ),
        Change(id=jobs[4].id, from_=Running(), to=Enqueued(), fence=jobs[4].fence, refund=True),
        Change(id=jobs[5].id, from_=Running(), to=Scheduled(timedelta(0)), fence=jobs[5].fence),
    ]

    answers = await bench.batch.transition_many(changes)

    expect(answers).equals(
        [True, False, False, False, False, False, True, True, True],
        "one answer for each, in order; an unknown, stale or conflicting one answers False and spoils no other",
    )
    statuses = [(await bench.details(job.id)).summary.status for job in jobs]
    expect(statuses).equals(
        [
            JobStatus.SUCCEEDED,
            JobStatus.RUNNING,
            JobStatus.RUNNING,
            JobStatus.FAILED,
            JobStatus.ENQUEUED,
            statuses[5],
        ],
        "each by the rules of transition",
    )
    expect((await bench.details(jobs[4].id)).summary.attempt).equals(0, "a refund is one in a batch too")
    expect((await bench.details(jobs[3].id)).last_error).differs(None, "an error is kept from a batch too")
    expect((await bench.details(old)).summary.status).equals(JobStatus.SUCCEEDED, "a conflicting one changes nothing")


@check("batch.each", needs=BatchingStore)
async def fences_of_a_batch_belong_to_their_jobs(bench: Bench) -> None:
    one = await bench.claimed()
    two = await bench.claimed()
    await bench.settle(two, Enqueued())
    two = await bench.claim_one()

    answers = await bench.batch.transition_many([_done(one.id, two.fence), _done(two.id, one.fence)])

    expect(answers).equals([False, False], "a fence that belongs to another job of the batch is another fence")
    answers = await bench.batch.transition_many([_done(two.id, two.fence), _done(one.id, one.fence)])
    expect(answers).equals([True, True], "the right ones apply")


@check("batch.each", needs=(BatchingStore, QueryableStore))
async def of_equal_ids_each_is_judged_after_the_one_before(bench: Bench) -> None:
    job = await bench.claimed()

    answers = await bench.batch.transition_many(
        [
            Change(id=job.id, from_=Running(), to=Failed(HOUR), fence=job.fence),
            Change(id=job.id, from_=Running(), to=Succeeded(), fence=job.fence),
            Change(id=job.id, from_=Failed(), to=DeadLettered(), fence=job.fence),
            Change(id=job.id, from_=DeadLettered(), to=Enqueued()),
            Change(id=job.id, from_=Enqueued(), to=Cancelled()),
        ]
    )

    expect(answers).equals([True, False, True, True, True], "of equal ids each is judged after the one before")
    summary = (await bench.details(job.id)).summary
    expect((summary.status, summary.attempt)).equals((JobStatus.CANCELLED, 0), "all of them were applied in order")


@check("batch.each", "transition.reopen", needs=BatchingStore)
async def a_key_freed_earlier_in_the_batch_can_be_taken_later_in_it(bench: Bench) -> None:
    old = await bench.standing(Succeeded(), unique_key="k")
    holder = await bench.enqueue_one(unique_key="k")

    answers = await bench.batch.transition_many(
        [
            Change(id=old, from_=Succeeded(), to=Enqueued()),
            Change(id=holder, from_=Enqueued(), to=Cancelled()),
            Change(id=old, from_=Succeeded(), to=Enqueued()),
            Change(id=holder, from_=Cancelled(), to=Enqueued()),
        ]
    )

    expect(answers).equals([False, True, True, False], "each by the rules of transition, one after another")
    expect(await bench.claimed_ids()).equals([old], "the key has one holder")


@check("batch.each", "life.errors", needs=BatchingStore)
async def a_refused_change_writes_nothing_of_the_batch(bench: Bench) -> None:
    await bench.enqueue_many(2)
    one, two = await bench.claim()
    refused = (
        Change(id=two.id, from_=Running(), to=Running()),
        Change(id=two.id, from_=Running(), to=Failed()),
        Change(id=two.id, from_=Running(), to=Scheduled(timedelta.max), fence=two.fence),
        Change(id=two.id, from_=Running(), to=Enqueued(), refund=True),
    )

    for bad in refused:
        with expect_refusal(InvalidInput, "refused input is an error before any write"):
            await bench.batch.transition_many([_done(one.id, one.fence), bad])

    expect(await bench.batch.transition_many([_done(one.id, one.fence)])).equals([True], "nothing was written")


@check("batch.each", needs=BatchingStore)
async def an_empty_batch_and_one_of_more_than_a_thousand(bench: Bench) -> None:
    await bench.enqueue_many(1100)
    jobs = await bench.claim(limit=1100)

    expect(await bench.batch.transition_many([])).equals([], "nothing in, nothing out")
    answers = await bench.batch.transition_many([_done(job.id, job.fence) for job in reversed(jobs)])

    expect(answers).equals([True] * 1100, "one answer for each")
    again = await bench.batch.transition_many([_done(job.id, job.fence) for job in jobs])
    expect(again).equals([False] * 1100, "a repetition is stale and answers False")


@check("batch.each", "transition.once", "life.deadlock", needs=BatchingStore)
async def batches_at_once_in_opposite_order_settle_each_job_once(bench: Bench) -> None:
    async def settle(store: JobStore, number: int) -> list[bool]:
        changes = [_done(job.id, job.fence) for job in jobs]
        if not isinstance(store, BatchingStore):
            return []
        answers = await store.transition_many(changes if number % 2 else changes[::-1])
        return answers if number % 2 else answers[::-1]

    for crowd in (bench.gathered, bench.threaded):
        await bench.enqueue_many(50)
        jobs = await bench.claim(worker=OTHER_WORKER)

        answers = await crowd(5, settle)

        expect([sum(of_job) for of_job in zip(*answers, strict=True)]).equals([1] * 50, "one caller gets True")
