"""What a test expects of a job's payload, and how the difference is told."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from klokka.app.functions import JobFunction
from klokka.core.jobtypes import JobType
from klokka.core.records import JobDetails

Kind = JobFunction[..., Any] | JobType[Any] | str


@dataclass(frozen=True, slots=True)
class Expectation:
    """A kind, and either a whole payload or some of a function's arguments."""

    source: Kind
    payload: Any = None
    arguments: dict[str, Any] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        return self.source if isinstance(self.source, str) else self.source.kind

    def met_by(self, jobs: Sequence[JobDetails], others: Sequence[JobDetails]) -> JobDetails:
        """The first of `jobs` that matches; `others` are what there is besides.

        Raises:
            AssertionError: none does.
        """
        for job in jobs:
            if self._matches(job):
                return job
        raise AssertionError(self._missing(jobs, others))

    def not_met_by(self, jobs: Sequence[JobDetails]) -> None:
        """Returns if none of `jobs` matches.

        Raises:
            AssertionError: one does.
        """
        for job in jobs:
            if self._matches(job):
                raise AssertionError(f"{self} is enqueued, as job {job.summary.id} with {self._decoded(job)!r}.")

    def __str__(self) -> str:
        if self.payload is not None:
            return f"{self.kind} with {self.payload!r}"
        arguments = ", ".join(f"{name}={value!r}" for name, value in self.arguments.items())
        return f"{self.kind}({arguments})"

    def _matches(self, job: JobDetails) -> bool:
        decoded = self._decoded(job)
        if self.payload is not None and decoded != self.payload:
            return False
        return all(name in decoded and decoded[name] == value for name, value in self.arguments.items())

    def _decoded(self, job: JobDetails) -> Any:
        return job.payload if isinstance(self.source, str) else self.source.decode(job.payload)

    def _missing(self, jobs: Sequence[JobDetails], others: Sequence[JobDetails]) -> str:
        lines = [f"{self} is not enqueued."]
        if jobs:
            lines.append(f"Enqueued of kind {self.kind}:")
            lines += [f"  job {job.summary.id}: {self._difference(job)}" for job in jobs]
        elif others:
            kinds = sorted({job.summary.kind for job in others})
            lines.append(f"No job of this kind waits. Waiting kinds: {', '.join(kinds)}.")
        else:
            lines.append("No job waits at all.")
        return "\n".join(lines)

    def _difference(self, job: JobDetails) -> str:
        decoded = self._decoded(job)
        if not self.arguments:
            return repr(decoded)
        return ", ".join(_compared(name, decoded, value) for name, value in self.arguments.items())


def _compared(name: str, decoded: dict[str, Any], value: Any) -> str:
    if name not in decoded:
        return f"{name} left out (not {value!r})"
    return f"{name}={decoded[name]!r}" + ("" if decoded[name] == value else f" (not {value!r})")
