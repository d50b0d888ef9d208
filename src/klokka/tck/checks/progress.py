"""The progress of a running job."""

from klokka.core.ids import MAX_ID, Fence, JobId
from klokka.core.states import Cancelled, Enqueued, Failed, Succeeded
from klokka.errors import InvalidInput
from klokka.spi.operate import ProgressStore
from klokka.spi.query import QueryableStore
from klokka.tck.bench import HOUR, OTHER_WORKER, Bench
from klokka.tck.check import check
from klokka.tck.violations import expect, expect_refusal

BOTH = (ProgressStore, QueryableStore)


@check("progress.held", needs=BOTH)
async def progress_is_kept_while_the_job_runs_under_this_fence(bench: Bench) -> None:
    job = await bench.claimed()

    for value in (0.0, 0.25, 1.0, 0.5):
        expect(await bench.progress.report_progress(job.id, fence=job.fence, value=value)).equals(True, "it was kept")
        expect((await bench.details(job.id)).progress).equals(value, "kept while the job runs under this fence")


@check("progress.held", needs=BOTH)
async def progress_under_another_fence_is_not_kept(bench: Bench) -> None:
    mine = await bench.claimed(lease=bench.short)
    await bench.progress.report_progress(mine.id, fence=mine.fence, value=0.9)
    await bench.pass_time(bench.short)
    theirs = await bench.claim_one(worker=OTHER_WORKER)

    expect((await bench.details(mine.id)).progress).equals(None, "a new claim begins without progress")
    for fence in (mine.fence, theirs.fence + 1, 0, -1, 2**70):
        kept = await bench.progress.report_progress(mine.id, fence=Fence(fence), value=0.5)
        expect(kept).equals(False, "kept only under the current fence")
    expect((await bench.details(mine.id)).progress).equals(None, "and nothing was changed")


@check("progress.held", needs=BOTH)
async def progress_of_a_job_that_does_not_run_is_not_kept(bench: Bench) -> None:
    for to in (Failed(HOUR), Enqueued(), Succeeded()):
        job = await bench.claimed()
        await bench.progress.report_progress(job.id, fence=job.fence, value=0.5)
        await bench.settle(job, to)

        kept = await bench.progress.report_progress(job.id, fence=job.fence, value=0.75)

        expect(kept).equals(False, "kept only while the job runs")
        expect((await bench.details(job.id)).progress).is_in((None, 0.5), "and nothing was changed")
        await bench.store.transition(job.id, from_=Enqueued(), to=Cancelled())


@check("progress.held", "life.arguments", needs=ProgressStore)
async def progress_of_unknown_jobs_is_false_and_no_error(bench: Bench) -> None:
    for number in (0, -1, 999, MAX_ID, MAX_ID + 1, 2**70):
        kept = await bench.progress.report_progress(JobId(number), fence=Fence(1), value=0.5)
        expect(kept).equals(False, "an id that this store cannot have issued is unknown")


@check("progress.held", "life.errors", needs=BOTH)
async def progress_beyond_its_range_is_refused(bench: Bench) -> None:
    job = await bench.claimed()
    await bench.progress.report_progress(job.id, fence=job.fence, value=0.5)

    for value in (-0.01, 1.01, float("nan"), float("inf"), float("-inf")):
        with expect_refusal(InvalidInput, "progress goes from 0.0 to 1.0"):
            await bench.progress.report_progress(job.id, fence=job.fence, value=value)

    expect((await bench.details(job.id)).progress).equals(0.5, "nothing was changed")


@check("progress.held", "heartbeat.quiet", needs=BOTH)
async def progress_changes_nothing_else(bench: Bench) -> None:
    job = await bench.claimed()
    before = await bench.details(job.id)

    await bench.progress.report_progress(job.id, fence=job.fence, value=0.5)
    after = await bench.details(job.id)

    expect((after.summary, after.fence, after.lease_until, after.holder)).equals(
        (before.summary, before.fence, before.lease_until, before.holder), "progress is a note, and no heartbeat"
    )
