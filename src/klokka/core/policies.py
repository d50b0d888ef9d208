"""When to try again: pure functions of attempt and error, capped and jittered."""

import inspect
import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from klokka.core.arguments import can_be_called, count, of_class
from klokka.core.instants import not_negative, positive
from klokka.errors import InvalidInput, NotRetryable

RetryPolicy = Callable[[int, BaseException], timedelta | None]
"""The wait before the next attempt, given the number of the one that failed, from 1; None gives up.

A user's own function is as good as the two below. If it raises, the job waits `FALLBACK` and is tried again, and the
log says so: a bug in a policy never strands a job.
"""

FALLBACK: Final = timedelta(minutes=1)
MAX_WAIT: Final = timedelta(days=365)
_NUMBER: Final = "Give a number."


@dataclass(frozen=True, slots=True, kw_only=True)
class Exponential:
    """Waits `base`, then `factor` times longer after each attempt, up to `cap`, each moved by up to `jitter` of itself.

    Gives up after `max_attempts` attempts in all, and at once on errors of the classes in `never_on`.
    """

    base: timedelta = timedelta(seconds=10)
    factor: float = 2.0
    max_attempts: int = 8
    jitter: float = 0.2
    cap: timedelta = timedelta(hours=6)
    never_on: tuple[type[BaseException], ...] = ()

    def __post_init__(self) -> None:
        positive(self.base, "base")
        positive(self.cap, "cap")
        check_attempts(self.max_attempts)
        _check_errors(self.never_on)
        of_class("factor", self.factor, (int, float), _NUMBER)
        of_class("jitter", self.jitter, (int, float), _NUMBER)
        if not 1.0 <= self.factor <= 1000.0:
            raise InvalidInput(f"factor must be 1 to 1000, not {self.factor}.")
        if not 0.0 <= self.jitter <= 1.0:
            raise InvalidInput(f"jitter must be 0 to 1, the part of the wait that is random, not {self.jitter}.")

    def __call__(self, attempt: int, error: BaseException) -> timedelta | None:
        if attempt >= self.max_attempts or isinstance(error, (NotRetryable, *self.never_on)):
            return None
        cap = self.cap.total_seconds()
        try:  # attempt 400 overflows a float
            seconds = min(cap, self.base.total_seconds() * self.factor ** (attempt - 1))
        except OverflowError:
            seconds = cap
        return timedelta(seconds=seconds * (1 + self.jitter * random.uniform(-1, 1)))


@dataclass(frozen=True, slots=True)
class Intervals:
    """Waits the given times, one after each failed attempt, and gives up when they are used up."""

    waits: tuple[timedelta, ...]
    never_on: tuple[type[BaseException], ...] = ()

    def __post_init__(self) -> None:
        for wait in self.waits:
            not_negative(wait, "a wait")
        _check_errors(self.never_on)

    def __call__(self, attempt: int, error: BaseException) -> timedelta | None:
        if attempt > len(self.waits) or isinstance(error, (NotRetryable, *self.never_on)):
            return None
        return self.waits[max(attempt, 1) - 1]


def exponential(
    *,
    base: timedelta = timedelta(seconds=10),
    factor: float = 2.0,
    max_attempts: int = 8,
    jitter: float = 0.2,
    cap: timedelta = timedelta(hours=6),
    never_on: tuple[type[BaseException], ...] = (),
) -> Exponential:
    """The usual policy; see `Exponential`.

    Raises:
        InvalidInput: a number is out of its range.
    """
    return Exponential(base=base, factor=factor, max_attempts=max_attempts, jitter=jitter, cap=cap, never_on=never_on)


def intervals(*waits: timedelta, never_on: tuple[type[BaseException], ...] = ()) -> Intervals:
    """One attempt more than there are waits; `intervals()` tries once. See `Intervals`.

    Raises:
        InvalidInput: a wait is negative.
    """
    return Intervals(waits, never_on)


def check_attempts(number: int) -> int:
    """`number`, if it can count attempts.

    Raises:
        InvalidInput: it is below 1, or no whole number.
    """
    return count("max_attempts", number)


def check_policy(policy: RetryPolicy) -> RetryPolicy:
    """`policy`, if it can be asked: what no attempt and error can be given to would wait `FALLBACK` for ever.

    Raises:
        InvalidInput: it is no function of `(attempt, error)`.
    """
    hint = "Give klokka.exponential(…), klokka.intervals(…) or a function of (attempt, error)."
    can_be_called("retry", policy, hint)
    try:
        inspect.signature(policy).bind(1, NotRetryable())
    except TypeError as error:
        raise InvalidInput(f"retry cannot be {policy!r}: {error}. {hint}") from error
    except ValueError:
        pass  # Python does not know what it takes
    return policy


def _check_errors(classes: Any) -> None:
    hint = "Give a tuple of classes of errors, such as (ValueError,)."
    of_class("never_on", classes, tuple, hint)
    for each in classes:
        if not (isinstance(each, type) and issubclass(each, BaseException)):
            raise InvalidInput(f"never_on has {each!r} in it. {hint}")


@dataclass(frozen=True, slots=True, kw_only=True)
class NextTry:
    """What a policy answered: the wait, or None to give up. `failure` is what it raised in the place of an answer."""

    wait: timedelta | None
    failure: Exception | None = None


def next_try(policy: RetryPolicy, attempt: int, error: BaseException, max_attempts: int | None) -> NextTry:
    """What `policy` says, bounded: `NotRetryable` and `max_attempts` (a job's own limit, if it carries one) give up.

    Raises nothing: a policy that fails, or answers beyond its range, gets `FALLBACK` or the nearest bound.
    """
    if isinstance(error, NotRetryable) or (max_attempts is not None and attempt >= max_attempts):
        return NextTry(wait=None)
    try:
        wait = policy(attempt, error)
        if wait is None:
            return NextTry(wait=None)
        of_class("the answer of a retry policy", wait, timedelta, "Give a timedelta, or None to give up.")
        return NextTry(wait=min(max(wait, timedelta(0)), MAX_WAIT))
    except Exception as failure:  # whatever a user's function raises, the job must not be stranded
        return NextTry(wait=FALLBACK, failure=failure)
