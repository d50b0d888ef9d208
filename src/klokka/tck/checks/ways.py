"""All ways in which a job gets in, and which kinds of values come out of any of them."""

from datetime import timedelta
from typing import Any, Final

from klokka.core.ids import JobId, ScheduleId
from klokka.core.records import JobError, NewJob
from klokka.core.schedule_records import ScheduleSpec
from klokka.core.states import Failed, JobStatus
from klokka.spi.keys import EnqueueOnceStore
from klokka.spi.query import QueryableStore
from klokka.tck.bench import HOUR, KIND, WORKER, Bench
from klokka.tck.callers import Begin, check_both_sorts
from klokka.tck.capabilities import SchedulingStore
from klokka.tck.check import check
from klokka.tck.violations import expect, present

S: Final = ScheduleId("s")


def _whole(bench: Bench, queue: str) -> NewJob:
    """A request with something in every field."""
    return bench.new(
        queue=queue,
        payload='{"n": [1.0, "é"]}',
        payload_version=7,
        run_at=timedelta(0),
        unique_key=f"key of {queue}",
        schedule_id="another",
        headers={"trace": "1", "": ""},
    )


async def _expect_as_enqueued(bench: Bench, queue: str) -> None:
    """The job of that queue is like one that was enqueued plainly."""
    await bench.store.enqueue([_whole(bench, "plain")])
    plain, other = [await bench.claim_one(queues=[name]) for name in ("plain", queue)]

    def fields(job: Any) -> tuple[object, ...]:
        return job.kind, job.payload, job.payload_version, job.schedule_id, dict(job.headers), job.attempt, job.fence

    expect(fields(other)).equals(fields(plain), "a job is stored by the rules of enqueue, whichever way it comes")
    expect(other.unique_key).equals(f"key of {queue}", "with its key")
    expect(other.scheduled_for >= other.enqueued_at).equals(True, "and for its time")


@check("key.atomic", needs=EnqueueOnceStore)
async def a_job_enqueued_once_is_a_job_like_others(bench: Bench) -> None:
    await bench.once.enqueue_once(_whole(bench, "once"), scope="scope", key="key", ttl=HOUR)

    await _expect_as_enqueued(bench, "once")
    later = bench.new(queue="later", run_at=HOUR)
    _, moment = await bench.timed(bench.once.enqueue_once(later, scope="scope", key="later", ttl=HOUR))
    due = await bench.store.next_due(queues=["later"], kinds=[KIND])
    expect(due).within(moment.start + HOUR, moment.end + HOUR, "and one for later waits")


@check("schedule.complete", needs=SchedulingStore)
async def a_run_is_a_job_like_others(bench: Bench) -> None:
    spec = ScheduleSpec(id=S, kind=KIND, fingerprint="v1", description="", fire_at=await bench.store.now())
    await bench.store.upsert_schedules([spec])
    (fire,) = await bench.store.due_schedules(ids=[S], limit=1, lease=HOUR, worker=WORKER)

    await bench.store.complete_fire(S, fence=fire.fence, runs=[_whole(bench, "run")], next_fire_at=None)

    await _expect_as_enqueued(bench, "run")


@check_both_sorts("tx.atomic")
async def a_job_of_a_transaction_is_a_job_like_others(bench: Bench, begin: Begin) -> None:
    async with begin(bench) as caller:
        await caller.enqueue([_whole(bench, "transaction")])

    await _expect_as_enqueued(bench, "transaction")


@check("enqueue.ids", "claim.fence", "claim.attempt", "claim.lapses")
async def ids_fences_and_counts_are_whole_numbers(bench: Bench) -> None:
    (result,) = await bench.store.enqueue([bench.new()])
    job = await bench.claim_one()

    for value in (result.id, job.id, job.fence, job.attempt, job.lapses, job.payload_version):
        expect(type(value)).equals(int, "ids, fences and counts are whole numbers")
    held = await bench.store.heartbeat({job.id: job.fence}, worker=WORKER, extend=HOUR)
    expect({type(id_) for id_ in held}).equals({int}, "ids, fences and counts are whole numbers")
    for answer in (result.created, await bench.store.transition(JobId(result.id + 1), from_=Failed(), to=Failed(HOUR))):
        expect(type(answer)).equals(bool, "yes and no are booleans")


@check("query.details", "query.counts", needs=QueryableStore)
async def what_is_shown_has_the_kinds_of_values_that_are_stated(bench: Bench) -> None:
    job = await bench.claimed()
    await bench.settle(job, Failed(HOUR), error=JobError(type="E", message="m"))
    details = await bench.details(job.id)
    error = present(details.last_error, "the error is shown")

    for status in (details.summary.status, *(await bench.query.counts_by_status())):
        expect(type(status)).equals(JobStatus, "a status is one of the enum")
    for value in (details.summary.id, details.fence, details.summary.attempt, details.lapses, error.attempt):
        expect(type(value)).equals(int, "ids, fences and counts are whole numbers")
