"""What a run of the kit found, as a value."""

import enum
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from klokka.spi.life import Traits
from klokka.spi.store import JobStore
from klokka.tck.check import Check
from klokka.tck.clauses import text_of
from klokka.tck.endings import Ungiven
from klokka.tck.levels import LEVELS, Level, clauses_by_level
from klokka.tck.violations import Violation


@dataclass(frozen=True, slots=True, kw_only=True)
class Passed:
    """The store kept the clauses of this check."""

    check: Check
    seconds: float
    seed: int = 0
    """Of the run."""
    shortened: str | None = None
    """How far it came, where time ended it: on a faster machine the same seed looks at more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """The store broke a clause, or the check could not come to its end; `error` says which, and its cause why."""

    check: Check
    error: Exception
    seconds: float = 0.0
    seed: int = 0
    journal: tuple[str, ...] = ()
    """The last things that were asked and answered, oldest first."""
    calls: int = 0
    """How many there were in all."""

    @property
    def clauses(self) -> tuple[str, ...]:
        """What is broken: what the violation names, which may be less than the check cites."""
        if isinstance(self.error, Violation):
            return self.error.clauses
        return () if isinstance(self.error, Ungiven) else self.check.clauses

    def __str__(self) -> str:
        head = f"{self.check.id} {self.check.cited}"
        return "\n".join([head, *(f"  {line}" if line else "" for line in self._lines())])

    def _lines(self) -> Iterator[str]:
        for clause in self.clauses:
            yield f"[{clause}] {text_of(clause)}"
        yield ""
        if isinstance(self.error, Violation):
            yield self.error.why
            yield f"  seen:                       {self.error.shown_seen}"
            yield f"  a right store would answer: {self.error.shown_expected}"
            yield from self.error.told()
        else:
            yield from str(self.error).splitlines()
        if self.journal:
            yield ""
            yield f"the last {len(self.journal)} of {self.calls} steps:"
            yield from self.journal
        yield ""
        yield f"again: klokka tck … --seed {self.seed} --only {self.check.id}"
        yield f"   or: pytest --klokka-store … --klokka-seed {self.seed} --klokka-only {self.check.id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """The subject cannot be asked this."""

    check: Check
    reason: str
    seed: int = 0


Result = Passed | Failed | Skipped


class Standing(enum.Enum):
    """How a store stands to a level or a clause."""

    REACHED = "reached"
    PARTLY = "reached as far as it could be asked"
    BROKEN = "broken"
    ABSENT = "not offered"
    UNASKED = "not asked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """A level, and how the store stands to it."""

    level: Level
    standing: Standing
    lacking: str | None
    clauses: Mapping[str, Standing]
    """Those that the chosen checks cite."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Store:
    """What was tried: its own statements, and what it does not offer, by level."""

    traits: Traits | None = None
    lacking: Mapping[str, str] = field(default_factory=dict[str, str])

    @classmethod
    def seen(cls, store: JobStore) -> "Store":
        """What `store` says of itself."""
        lacking = {level.name: level.lacking(store) for level in LEVELS}
        return cls(traits=store.traits, lacking={name: why for name, why in lacking.items() if why is not None})


UNKNOWN_STORE: Final = Store()


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The results of all checks of a run, in the order in which they ran; of a soak, of all its rounds."""

    results: Sequence[Result]
    seed: int = 0
    rounds: int = 1
    seconds: float = 0.0
    store: Store = UNKNOWN_STORE
    given_up: str | None = None
    """Why it ended before all was asked, if it did."""

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
    def shortened(self) -> list[Passed]:
        return [result for result in self.passed if result.shortened is not None]

    @property
    def broken(self) -> frozenset[str]:
        """The clauses of failed checks."""
        return frozenset(clause for result in self.failed for clause in result.clauses)

    def results_of(self, clause: str) -> list[Result]:
        """The results of the checks that cite the clause."""
        return [result for result in self.results if clause in result.check.clauses]

    def standing_of(self, clause: str) -> Standing:
        """How the store stands to one clause."""
        if clause in self.broken:
            return Standing.BROKEN
        if any(isinstance(result, Passed) for result in self.results_of(clause)):
            return Standing.REACHED
        return Standing.UNASKED

    def reaches(self) -> list[Reach]:
        """Every level of which something was chosen, and how the store stands to it."""
        cited = (clause for result in self.results for clause in result.check.clauses)
        return [self._reach(level, clauses) for level, clauses in clauses_by_level(cited).items()]

    def _reach(self, level: Level, clauses: Sequence[str]) -> Reach:
        lacking = self.store.lacking.get(level.name)
        standings = {clause: self.standing_of(clause) for clause in clauses}
        seen = set(standings.values())
        if Standing.BROKEN in seen:
            standing = Standing.BROKEN
        elif lacking is not None:
            standing = Standing.ABSENT
        elif seen == {Standing.UNASKED}:
            standing = Standing.UNASKED
        else:
            standing = Standing.PARTLY if Standing.UNASKED in seen else Standing.REACHED
        return Reach(level=level, standing=standing, lacking=lacking, clauses=standings)
