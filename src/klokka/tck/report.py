"""What a run of the kit found, as a value."""

from collections.abc import Sequence
from dataclasses import dataclass

from klokka.tck.check import Check


@dataclass(frozen=True, slots=True, kw_only=True)
class Passed:
    """The store kept the clauses of this check."""

    check: Check
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """The store broke a clause, or the check could not come to its end; `error` says which, and its cause why."""

    check: Check
    error: Exception

    def __str__(self) -> str:
        clauses = " ".join(f"[{clause}]" for clause in self.check.clauses)
        return f"{self.check.id} {clauses}\n{self.error}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """The subject cannot be asked this."""

    check: Check
    reason: str


Result = Passed | Failed | Skipped


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The results of all checks of a run, in the order in which they ran."""

    results: Sequence[Result]

    @property
    def passed(self) -> list[Passed]:
        return [result for result in self.results if isinstance(result, Passed)]

    @property
    def failed(self) -> list[Failed]:
        return [result for result in self.results if isinstance(result, Failed)]

    @property
    def skipped(self) -> list[Skipped]:
        return [result for result in self.results if isinstance(result, Skipped)]

    @property
    def broken(self) -> frozenset[str]:
        """The clauses of failed checks."""
        return frozenset(clause for result in self.failed for clause in result.check.clauses)

    def __str__(self) -> str:
        lines = [f"{len(self.passed)} passed, {len(self.failed)} failed, {len(self.skipped)} skipped"]
        lines += [f"skipped {result.check.id}: {result.reason}" for result in self.skipped]
        lines += [f"FAILED {result}" for result in self.failed]
        return "\n".join(lines)
