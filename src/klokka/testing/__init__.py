"""For users' own tests: the app on a memory store with a clock that stands still, and jobs run when the test says so."""

from klokka.core.clocks import ManualClock
from klokka.testing.jobs import Jobs, Ran
from klokka.testing.run import run

__all__ = ["Jobs", "ManualClock", "Ran", "run"]
