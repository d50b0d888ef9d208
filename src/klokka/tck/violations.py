"""Expectations, and what is said when a store does not meet one."""

from collections.abc import Callable, Container, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from klokka.tck.capabilities import Lacking

E = TypeVar("E", bound=Exception)
T = TypeVar("T")


class Violation(AssertionError):
    """A store did something that the contract does not allow."""

    def __init__(self, why: str, *, seen: object, expected: object, clauses: tuple[str, ...] = ()) -> None:
        super().__init__(why, seen, expected)
        self.clauses = clauses
        """What is broken by it; those of the check that saw it where it names none itself."""
        self.why = why
        self.seen = seen
        self.expected = expected
        self.story: Sequence[str] = ()
        """What was done before, step by step, where chance has chosen it."""

    @property
    def shown_seen(self) -> str:
        """What the store gave, cut where it is long."""
        return _short(self.seen)

    @property
    def shown_expected(self) -> str:
        """What a right store would have given."""
        return _short(self.expected)

    def told(self) -> list[str]:
        """The story, a line each; nothing where there is none."""
        return ["after:", *(f"{number:3}. {step}" for number, step in enumerate(self.story, 1))] if self.story else []

    def __str__(self) -> str:
        cited = " ".join(f"[{clause}]" for clause in self.clauses)
        said = f"{cited} {self.why}\n  seen:     {self.shown_seen}\n  expected: {self.shown_expected}".lstrip()
        return "\n  ".join([said, *self.told()])


@dataclass(frozen=True, slots=True)
class Expectation(Generic[T]):
    """A value that a store gave, about to be judged. Every `why` says what the contract promises."""

    seen: T
    clauses: tuple[str, ...] = ()

    def equals(self, expected: object, why: str) -> None:
        if self.seen != expected:
            raise Violation(why, seen=self.seen, expected=expected, clauses=self.clauses)

    def differs(self, other: object, why: str) -> None:
        if self.seen == other:
            raise Violation(why, seen=self.seen, expected=f"anything but {_short(other)}", clauses=self.clauses)

    def is_in(self, allowed: Container[Any], why: str) -> None:
        if self.seen not in allowed:
            raise Violation(why, seen=self.seen, expected=f"one of {_short(allowed)}", clauses=self.clauses)

    def within(self, low: Any, high: Any, why: str) -> None:
        """Neither below `low` nor above `high`."""
        if self.seen is None or not low <= self.seen <= high:
            raise Violation(why, seen=self.seen, expected=f"{low} to {high}", clauses=self.clauses)

    def above(self, floor: Any, why: str) -> None:
        if self.seen is None or not self.seen > floor:
            raise Violation(why, seen=self.seen, expected=f"more than {floor}", clauses=self.clauses)

    def fulfils(self, condition: Callable[[T], bool], expected: str, why: str) -> None:
        if not condition(self.seen):
            raise Violation(why, seen=self.seen, expected=expected, clauses=self.clauses)


def expect(seen: T, *clauses: str) -> Expectation[T]:
    """Begins a sentence: `expect(held).equals(set(), "an expired lease is revived by claim alone")`.

    `clauses` are given by a check of many, which knows at each look what would be broken.
    """
    return Expectation(seen, clauses)


def present(seen: T | None, why: str) -> T:
    """What was seen, if it is there at all."""
    if seen is None:
        raise Violation(why, seen=None, expected="something")
    return seen


@dataclass(slots=True)
class Refusal(Generic[E]):
    """The error that a block was refused with."""

    caught: E | None = None

    @property
    def error(self) -> E:
        if self.caught is None:
            raise RuntimeError("ask for the error after the block has ended.")
        return self.caught


@contextmanager
def expect_refusal(kind: type[E], why: str) -> Generator[Refusal[E]]:
    """The block must end in an error of this kind."""
    refusal = Refusal[E]()
    try:
        yield refusal
    except kind as error:
        refusal.caught = error
    except (Violation, Lacking):
        raise
    except Exception as error:
        raise Violation(why, seen=f"{type(error).__name__}: {error}", expected=kind.__name__) from error
    else:
        raise Violation(why, seen="no error", expected=kind.__name__)


def _short(value: object, most: int = 2000) -> str:
    text = repr(value) if not isinstance(value, str) else value
    return text if len(text) <= most else f"{text[:most]}… ({len(text):,} characters)"
