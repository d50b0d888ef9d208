"""Where claims begin while dead entries of the indexes stand before the living ones [claim.look-back].

A job that is claimed leaves a dead entry in the index that claims read in order. As long as anybody's old snapshot may
see the job as it was, neither scan nor vacuum clears the entry away, and a claim that looks at all steps over all of
them. What a claim of ours has read need not be read again at once: the next one begins there, at its floor.
"""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from klokka.core.records import ClaimedJob
from klokka.stores.postgres.parameters import instant, numbers, texts

LOOKS_BACK: Final = timedelta(seconds=1)
"""How long claims begin at a floor before one looks at all again."""
_SHARE: Final = 10
"""Or as many times as long as a look at all took, if that is longer: it may have a share of the time and no more."""
_EDGE: Final = timedelta(milliseconds=250)
"""How far a floor stays behind the server's clock: what is due now may be committed a little later."""
_IN_VAIN: Final = 1_000
"""Entries that a claim may read in vain before anything is drawn from it. They take a tenth of a millisecond."""
_LOWEST: Final = "-infinity"

_Key = tuple[str, frozenset[str]]


@dataclass(frozen=True, slots=True)
class Floor:
    """A place in a queue: what is claimable there is due behind it, or a lease that ended at `lease_until` or later."""

    due_at: datetime
    id: int
    lease_until: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """A claim: how many jobs each queue may give and all of them together, and where it begins in each.

    Where there is no floor it looks at all.
    """

    queues: Sequence[str]
    kinds: Sequence[str]
    rooms: Sequence[int]
    limit: int
    floors: Sequence[Floor | None]

    @property
    def at_all(self) -> bool:
        return not any(self.floors)

    @property
    def enough(self) -> int:
        """As many entries as it may read without telling where it came to: it may need a queue's room of each kind."""
        return _IN_VAIN + sum(self.rooms) * len(self.kinds) if self.at_all else -1


@dataclass(slots=True)
class _Line:
    floor: Floor
    back_at: float
    """When a claim is to look at all again, by this process's clock."""
    passed_over: bool
    """Whether the last claim began at a floor, so that something may wait behind it."""


class Floors:
    """What the claims of a handle have learnt, by queue and kinds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lines: dict[_Key, _Line] = {}

    def look(self, *, queues: Sequence[str], kinds: Sequence[str], rooms: Sequence[int], limit: int) -> Look:
        """The next claim. When it is time to look back in one queue, it looks at all in each."""
        lines = self._known(queues, kinds)
        now = self._clock()
        back = any(line is not None and line.back_at <= now for line in lines)
        floors = [None if back or line is None else line.floor for line in lines]
        return Look(queues=queues, kinds=kinds, rooms=rooms, limit=limit, floors=floors)

    def last(self, *, queues: Sequence[str], kinds: Sequence[str]) -> tuple[list[Floor | None], timedelta | None]:
        """Where the last claim began, and how long until one looks at what that may have passed over."""
        lines = [line if line is not None and line.passed_over else None for line in self._known(queues, kinds)]
        back_at = min((line.back_at for line in lines if line is not None), default=None)
        wait = None if back_at is None else timedelta(seconds=max(0.0, back_at - self._clock()))
        return [None if line is None else line.floor for line in lines], wait

    def learn(self, look: Look, given: Sequence[ClaimedJob], told: Sequence[Any] | None) -> None:
        """Draws from a claim where the next one begins.

        `told` has when the statement began and ended, and the due time of each job given, None for an ended lease. It
        is None itself where little was read in vain.
        """
        if told is None and not self._lines:
            return
        keys = _keys(look.queues, look.kinds)
        if told is None or look.at_all:
            for key in keys:
                self._lines.pop(key, None)
        if told is None:
            return
        began, ended, *due = told
        back_at = self._clock() + max(LOOKS_BACK, _SHARE * (ended - began)).total_seconds()
        counts = Counter(job.queue for job in given)
        last = {job.queue: (at, job.id) for job, at in zip(given, due, strict=False)}
        left = look.limit
        for key, queue, room, floor in zip(keys, look.queues, look.rooms, look.floors, strict=True):
            full = counts[queue] >= min(room, left)
            left -= counts[queue]
            reached = _reached(floor, last.get(queue) if full else None, began - _EDGE)
            if room and reached is not None:
                line = self._lines.get(key)
                self._lines[key] = _Line(
                    floor=reached, back_at=back_at if line is None else line.back_at, passed_over=floor is not None
                )
            if left <= 0:
                return

    def _known(self, queues: Sequence[str], kinds: Sequence[str]) -> list[_Line | None]:
        return [self._lines.get(key) for key in _keys(queues, kinds)] if self._lines else [None] * len(queues)


def _keys(queues: Sequence[str], kinds: Sequence[str]) -> list[_Key]:
    these = frozenset(kinds)
    return [(queue, these) for queue in queues]


def _reached(floor: Floor | None, last: tuple[datetime | None, int] | None, edge: datetime) -> Floor | None:
    """Up to where all was given by a claim that began at `floor`. `last` is the last job of a queue that filled it."""
    if last is None:
        return Floor(edge, 0, edge)
    at, job = last
    if at is None:
        return floor  # ended leases filled it
    return Floor(*min((at, job), (edge, 0)), edge)


def places(floors: Sequence[Floor | None]) -> tuple[str, str, str]:
    """The floors as parameters of a statement, by position."""
    return (
        texts(_LOWEST if floor is None else instant(floor.due_at) for floor in floors),
        numbers(0 if floor is None else floor.id for floor in floors),
        texts(_LOWEST if floor is None else instant(floor.lease_until) for floor in floors),
    )
