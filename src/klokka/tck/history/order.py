"""The search for an order of operations in which every answer is right (Wing and Gong's, with Lowe's memory)."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, Generic, TypeVar

from klokka.tck.history.record import Operation

S = TypeVar("S")

_WORK: Final = 200_000
"""Looks at a next operation that one search may take. What is not decided by then is no finding."""


@dataclass(frozen=True, slots=True)
class Event:
    """What one operation means to one object."""

    operation: Operation
    what: str
    given: Any = None


@dataclass(frozen=True, slots=True)
class Object(Generic[S]):
    """A sort of object: how it begins, and which states an event allows next; none if it cannot happen there."""

    begin: S
    step: Callable[[S, Event], Iterable[S]]
    key: Callable[[S], Hashable]
    """Equal for states from which the same may follow."""


class Verdict(Enum):
    RIGHT = "there is an order in which every answer is right"
    WRONG = "there is none"
    UNDECIDED = "nobody knows: the search was given up"


@dataclass(frozen=True, slots=True)
class Finding:
    """The verdict on one object. Where it is WRONG, `stuck` are what could never come next, the last first."""

    verdict: Verdict
    stuck: Sequence[Event] = ()


def judge(sort: Object[S], events: Iterable[Event]) -> Finding:
    """Whether these events of one object can have happened one at a time, each between its beginning and its end.

    One of unknown outcome may be left out, or come at any time after it began.
    """
    ordered = sorted(events, key=lambda event: event.operation.begun)
    begun = [event.operation.begun for event in ordered]
    ended = [event.operation.ended for event in ordered]
    needed = sum(1 << index for index, event in enumerate(ordered) if event.operation.known)
    seen: set[tuple[int, Hashable]] = set()
    stack: list[tuple[int, S]] = [(0, sort.begin)]
    work = 0
    deepest, stuck = -1, list[Event]()
    while stack:
        done, state = stack.pop()
        if done & needed == needed:
            return Finding(Verdict.RIGHT)
        mark = (done, sort.key(state))
        if mark in seen:
            continue
        seen.add(mark)
        open_ = [index for index in range(len(ordered)) if not done >> index & 1]
        horizon = min(ended[index] for index in open_)
        next_ = [index for index in open_ if begun[index] <= horizon]
        work += len(next_)
        if work > _WORK:
            return Finding(Verdict.UNDECIDED)
        depth = (done & needed).bit_count()
        if depth > deepest:
            deepest, stuck = depth, [ordered[index] for index in next_ if ordered[index].operation.known]
        for index in reversed(next_):
            stack += [(done | 1 << index, after) for after in sort.step(state, ordered[index])]
    return Finding(Verdict.WRONG, stuck)
