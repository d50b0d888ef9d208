"""The plays: which steps are mixed. Fewer sorts of steps go deeper, all together meet each other."""

from klokka.tck.machine.job_steps import JobSteps
from klokka.tck.machine.name_steps import NameSteps
from klokka.tck.machine.operator_steps import OperatorSteps
from klokka.tck.machine.schedule_steps import ScheduleSteps


class JobPlay(JobSteps, OperatorSteps):
    """All that may happen to jobs."""


class FullPlay(JobSteps, OperatorSteps, ScheduleSteps, NameSteps):
    """Every verb in any order."""
