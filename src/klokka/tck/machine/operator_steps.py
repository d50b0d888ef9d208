"""Steps of people: acting on jobs and queues from outside, and looking."""

from typing import Final

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from klokka.core.records import JobQuery
from klokka.core.states import JobStatus
from klokka.spi.fleet import FleetStore
from klokka.spi.operate import OperableStore
from klokka.spi.query import QueryableStore
from klokka.tck.machine import choices
from klokka.tck.machine.play import Play, can
from klokka.tck.model import views
from klokka.tck.violations import expect

LISTED: Final = tuple(status for status in JobStatus if status not in (JobStatus.SCHEDULED, JobStatus.ENQUEUED))
"""The statuses that promotion does not decide."""


class OperatorSteps(Play):
    """What needs no claim."""

    @can(OperableStore)
    @rule(on=choices.handle, which=choices.number, verb=st.sampled_from(["cancel", "requeue", "delete"]))
    @precondition(lambda self: self.stage.work.jobs)
    def operate(self, on: int, which: int, verb: str) -> None:
        job = self.some_job(which)
        self.stage.forget_hints()
        seen = self.stage.ask(on, verb, id=job)
        match verb:
            case "cancel":
                self.stage.work.cancel(self.stage.now, seen, job)
            case "requeue":
                self.stage.work.requeue(self.stage.now, seen, job)
                if seen is True:
                    self.stage.expect_hint("wakeups.commit", "a requeued job is work")
            case _:
                self.stage.work.delete(seen, job)
        self.stage.look([job])

    @can(FleetStore)
    @rule(on=choices.handle, queue=choices.queue)
    def pause_or_resume(self, on: int, queue: str) -> None:
        stage = self.stage
        if queue not in stage.work.paused:
            stage.answer(on, "pause_queue", queue=queue, reason="a reason")
            stage.work.paused[queue] = "a reason"
            return
        stage.forget_hints()
        expect(stage.answer(on, "resume_queue", queue=queue), "fleet.pause").equals(True, "the queue was paused")
        del stage.work.paused[queue]
        stage.expect_hint("fleet.pause", "resuming owes a wakeup")

    @can(QueryableStore)
    @rule(on=choices.handle)
    def look_at_numbers(self, on: int) -> None:
        stage = self.stage
        views.counts(stage.work, stage.answer(on, "counts_by_status"))
        if isinstance(stage.bench.store, FleetStore):
            paused = stage.answer(on, "paused_queues")
            expect(dict(paused), "fleet.pause").equals(stage.work.paused, "the paused queues and the reasons")
        views.depths(stage.work, stage.now, stage.answer(on, "queue_depths"))

    @can(QueryableStore)
    @rule(
        on=choices.handle,
        query=st.builds(
            JobQuery,
            status=st.none() | st.sampled_from(LISTED),
            kind=st.none() | choices.kind,
            queue=st.none() | choices.queue,
            unique_key=st.none() | choices.key,
            before=st.none() | st.integers(1, 9),
            limit=st.sampled_from([50, 2]),
            offset=st.integers(0, 2),
        ),
    )
    def list_jobs(self, on: int, query: JobQuery) -> None:
        stage = self.stage
        views.page(stage.work, stage.now, stage.answer(on, "list_jobs", query=query), query)
