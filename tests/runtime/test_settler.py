"""Writing what became of jobs, through trouble."""

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from typing import Any

from klokka.core import events
from klokka.core.ids import JobId, WorkerId
from klokka.core.outcomes import Snooze
from klokka.core.records import ClaimedJob
from klokka.core.states import JobStatus
from klokka.errors import Busy, StoreFull
from klokka.runtime.bus import EventBus
from klokka.runtime.held import Held, HeldJobs, Phase
from klokka.runtime.settler import Settler
from klokka.runtime.verdict import Result, handed_back, verdict
from tests.support.flaky import FlakyStore
from tests.support.working import enqueue, handler, until

LEASE = timedelta(seconds=30)
OWNER = WorkerId("w")


async def run(payload: Any, job: Any) -> None: ...


@asynccontextmanager
async def settling(store: Any, held: HeldJobs, bus: EventBus | None = None) -> AsyncGenerator[Settler]:
    settler = Settler(store, held, bus or EventBus())
    task = asyncio.create_task(settler.run())
    try:
        async with asyncio.timeout(20):
            yield settler
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def claims(store: FlakyStore, held: HeldJobs, count: int, *, lasts: float = 30.0) -> list[Held]:
    """Fresh claims whose handlers have ended."""
    await enqueue(store, *range(count))
    jobs = await store.claim(queues=["default"], kinds=["a"], limit=count, lease=LEASE, worker=OWNER)
    found = [as_held(job, lasts) for job in jobs]
    for each in found:
        held.add(each)
    return found


def as_held(job: ClaimedJob, lasts: float = 30.0) -> Held:
    now = time.monotonic()
    held = Held(job, handler(run), claimed=now, deadline=now + lasts)
    held.phase, held.ran = Phase.ENDED, 0.1
    return held


async def status_of(store: FlakyStore, id: JobId) -> JobStatus:
    details = await store.get_job(id)
    assert details is not None
    return details.summary.status


def done(settler: Settler, *ended: Held) -> None:
    for each in ended:
        settler.settle(each, verdict(Result(), each.job, each.handler))


async def test_a_batch_is_what_gathered_while_the_write_before_was_on_its_way(store: FlakyStore) -> None:
    held = HeldJobs()
    first, *rest = await claims(store, held, 20)
    gate = store.weather.hold("transition_many")

    async with settling(store, held) as settler:
        done(settler, first)
        await gate.reached.wait()
        done(settler, *rest)
        gate.open()
        await settler.flushed()

    assert store.weather.calls["transition_many"] == 2
    assert (await store.counts_by_status())[JobStatus.SUCCEEDED] == 20
    assert len(held) == 0


async def test_through_an_outage_results_are_kept_and_written_when_it_is_over(store: FlakyStore) -> None:
    held = HeldJobs()
    ended = await claims(store, held, 3)
    store.weather.take_away("transition_many")

    async with settling(store, held) as settler:
        done(settler, *ended)
        await until(lambda: store.weather.calls["transition_many"] >= 3, "three tries")
        assert len(held) == 3  # their leases are renewed meanwhile
        store.weather.give_back()
        await settler.flushed()

    assert (await store.counts_by_status())[JobStatus.SUCCEEDED] == 3


async def test_every_error_of_a_store_is_an_outage(store: FlakyStore) -> None:
    held = HeldJobs()
    ended = await claims(store, held, 1)
    store.weather.fail("transition_many", Busy("wait"), StoreFull("disk"))

    async with settling(store, held) as settler:
        done(settler, *ended)
        await settler.flushed()

    assert await status_of(store, ended[0].job.id) is JobStatus.SUCCEEDED


async def test_results_are_discarded_when_their_lease_cannot_be_proven_any_more(store: FlakyStore) -> None:
    bus = EventBus()
    lost: list[events.LeaseLost] = []
    bus.on(events.LeaseLost, lost.append)
    held = HeldJobs()
    [ended] = await claims(store, held, 1, lasts=0.15)
    store.weather.take_away("transition_many")

    async with settling(store, held, bus) as settler:
        done(settler, ended)
        await settler.flushed()

    await until(lambda: len(lost) == 1, "the event")
    assert await status_of(store, ended.job.id) is JobStatus.RUNNING
    assert len(held) == 0


async def test_a_lost_answer_is_asked_for_and_found_to_be_written(store: FlakyStore) -> None:
    bus = EventBus()
    heard: list[events.Ended] = []
    bus.on(events.Ended, heard.append)
    held = HeldJobs()
    [ended] = await claims(store, held, 1)
    store.weather.lose_answer("transition_many")

    async with settling(store, held, bus) as settler:
        done(settler, ended)
        await settler.flushed()

    await until(lambda: bool(heard), "an event")
    assert [type(event) for event in heard] == [events.Succeeded]


async def test_a_lost_answer_of_a_job_that_another_worker_holds_is_a_lost_lease(store: FlakyStore) -> None:
    bus = EventBus()
    heard: list[events.Ended] = []
    bus.on(events.Ended, heard.append)
    held = HeldJobs()
    [ended] = await claims(store, held, 1)
    assert await store.cancel(ended.job.id)
    assert await store.requeue(ended.job.id)
    await store.claim(queues=["default"], kinds=["a"], limit=1, lease=LEASE, worker=WorkerId("other"))
    store.weather.lose_answer("transition_many")

    async with settling(store, held, bus) as settler:
        done(settler, ended)
        await settler.flushed()

    await until(lambda: bool(heard), "an event")
    assert [type(event) for event in heard] == [events.LeaseLost]
    assert await status_of(store, ended.job.id) is JobStatus.RUNNING


async def test_a_job_called_off_meanwhile_keeps_its_state_and_spoils_no_other(store: FlakyStore) -> None:
    held = HeldJobs()
    gone, fine = await claims(store, held, 2)
    await store.cancel(gone.job.id)

    async with settling(store, held) as settler:
        done(settler, gone, fine)
        await settler.flushed()

    assert await status_of(store, gone.job.id) is JobStatus.CANCELLED
    assert await status_of(store, fine.job.id) is JobStatus.SUCCEEDED


async def test_a_change_that_the_store_refuses_fails_its_job_alone(store: FlakyStore) -> None:
    held = HeldJobs()
    bad, fine = await claims(store, held, 2)

    async with settling(store, held) as settler:
        settler.settle(bad, verdict(Result(outcome=Snooze(timedelta.max)), bad.job, bad.handler))
        done(settler, fine)
        await settler.flushed()

    details = await store.get_job(bad.job.id)
    assert details is not None
    assert details.summary.status is JobStatus.DEAD_LETTERED
    assert details.last_error is not None
    assert "InvalidTime" in details.last_error.type
    assert await status_of(store, fine.job.id) is JobStatus.SUCCEEDED


async def test_a_store_without_batches_is_served_too(store: FlakyStore) -> None:
    class OneByOne:
        """Has the verbs that every store has, as far as they are needed here."""

        async def transition(self, *args: Any, **kwargs: Any) -> bool:
            return await store.transition(*args, **kwargs)

    held = HeldJobs()
    ended = await claims(store, held, 40)
    store.weather.fail("transition", Busy("wait"))

    async with settling(OneByOne(), held) as settler:
        done(settler, *ended[:-1])
        settler.settle(ended[-1], handed_back(ended[-1].job, unstarted=True))
        await settler.flushed()

    counts = await store.counts_by_status()
    assert (counts[JobStatus.SUCCEEDED], counts[JobStatus.ENQUEUED]) == (39, 1)


async def test_trouble_is_said_once_for_each_change(store: FlakyStore, caplog: Any) -> None:
    held = HeldJobs()
    ended = await claims(store, held, 1)
    store.weather.fail("transition_many", *[Busy("wait")] * 4)

    async with settling(store, held) as settler:
        done(settler, *ended)
        await settler.flushed()

    said = [record.getMessage() for record in caplog.records if record.name == "klokka.outage"]
    assert len(said) == 2
    assert "fails (Busy: wait)" in said[0]
    assert "works again" in said[1]
