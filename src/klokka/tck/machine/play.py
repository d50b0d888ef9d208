"""What every play has: a stage, time that passes, handles that come and go, and hints that are heard or dropped."""

import sys
from collections.abc import Callable
from datetime import timedelta
from typing import Any, TypeVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from klokka.core.ids import JobId
from klokka.tck.machine import choices
from klokka.tck.machine.stage import Hunt, Stage
from klokka.tck.violations import Violation

F = TypeVar("F", bound=Callable[..., Any])


def can(capability: type[Any]) -> Callable[[F], F]:
    """The step is for stores with this capability."""

    def limited(step: F) -> F:
        return precondition(lambda self: isinstance(self.stage.bench.store, capability))(step)

    return limited


class Play(RuleBasedStateMachine):
    """Time passes and handles come and go; what else is done is a subclass's."""

    def __init__(self, hunt: Hunt) -> None:
        super().__init__()
        self._hunt = hunt
        self.stage = Stage(hunt)

    def teardown(self) -> None:
        error = sys.exception()  # what the last step is leaving with
        if isinstance(error, Violation):
            self._hunt.found(self.stage.script, error)
        self.stage.close()

    @rule(by=st.sampled_from([timedelta(seconds=seconds) for seconds in (1, 59, 3600, 100_000)]))
    def pass_time(self, by: timedelta) -> None:
        self.stage.pass_time(by)

    @rule(early=st.booleans())
    def pass_time_to_what_comes_next(self, early: bool) -> None:
        """To the very instant at which something becomes due or ends, or to the last one before it."""
        stage = self.stage
        ends = [job.due for job in stage.work.jobs.values()]
        ends += [time for row in stage.timetable.rows.values() for time in (row.next_fire_at, row.lease_until)]
        ends += [key.until for key in stage.names.keys.values()]
        ends += [lease.until for lease in stage.names.leases.values()]
        ends += [worker.live_until for worker in stage.crew.workers.values()]
        ahead = [end for end in ends if end is not None and end > stage.now]
        if ahead:
            stage.pass_time(min(ahead) - stage.now - (stage.bench.step if early else timedelta(0)))

    @rule(on=choices.handle, what=st.sampled_from(["crash", "open", "listen", "drop", "crash"]))
    def turn(self, on: int, what: str) -> None:
        """Handles and listeners come and go."""
        match what:
            case "crash":
                self.stage.crash(on)
            case "open":
                self.stage.open_handle()
            case "listen":
                self.stage.listen()
            case _:
                self.stage.drop_hints()

    def some_job(self, which: int) -> JobId:
        """Some job, the newest for zero."""
        known = sorted(self.stage.work.jobs, reverse=True)
        return known[which % len(known)]
