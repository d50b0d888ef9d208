"""Where claims begin while dead entries of the indexes stand before the living ones [claim.look-back].

A job that is claimed leaves a dead entry in the index that claims read in order. As long as anybody's old snapshot may
see the job as it was, neither scan nor vacuum clears the entry away, and a claim from the head steps over all of them.
What a claim of ours has read need not be read again: the next one begins there, at its floor. What comes behind a
floor is found by looking back.
"""

import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final

from klokka.core.records import ClaimedJob
from klokka.stores.postgres.parameters import instant, numbers, texts

LOOKS_BACK: Final = timedelta(seconds=1)
"""How long claims begin at floors before somebody looks at what is behind them."""
_SHARE: Final = 10
"""Or as many times as long as a look back took, if that is longer: it may have a share of the time and no more."""
_EDGE: Final = timedelta(milliseconds=250)
"""How far a floor stays behind the server's clock: what is due now may be committed a little later."""
_IN_VAIN: Final = 1_000
"""Entries that may be read in vain before anything is drawn from it. They take a tenth of a millisecond."""
_LOWEST: Final = "-infinity"

_Key = tuple[str, frozenset[str]]
Found = tuple[int, datetime | None, int, datetime | None]
"""The number of a queue, a job that is due in it with its id, and the end of a lease; or either alone."""


@dataclass(frozen=True, slots=True)
class Floor:
    """A place in a queue: what is claimable there is due behind it, or a lease that ended at `lease_until` or later."""

    due_at: datetime
    id: int
    lease_until: datetime

    def or_lower(self, other: "Floor") -> "Floor":
        """The lower of both, of jobs and of leases."""
        place = min((self.due_at, self.id), (other.due_at, other.id))
        return Floor(*place, min(self.lease_until, other.lease_until))


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """A claim: how many jobs each queue may give and all of them together, and where it begins in each.

    Where there is no floor it begins at the head.
    """

    queues: Sequence[str]
    kinds: Sequence[str]
    rooms: Sequence[int]
    limit: int
    floors: Sequence[Floor | None]

    @property
    def from_the_head(self) -> bool:
        return not any(self.floors)

    @property
    def enough(self) -> int:
        """As many entries as it may read without telling where it came to: it may need a queue's room of each kind."""
        return _IN_VAIN + sum(self.rooms) * len(self.kinds) if self.from_the_head else -1


@dataclass(slots=True)
class _Line:
    floor: Floor
    back_at: float
    """When to look back, by this process's clock; never, while somebody does."""
    passed_over: bool
    """Whether something may have come behind the floor that the last claim has not seen."""


class Floors:
    """What the claims of a handle have learnt, by queue and kinds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lines: dict[_Key, _Line] = {}

    def look(self, *, queues: Sequence[str], kinds: Sequence[str], rooms: Sequence[int], limit: int) -> Look:
        """The next claim."""
        return Look(queues=queues, kinds=kinds, rooms=rooms, limit=limit, floors=self.of(queues, kinds))

    def of(self, queues: Sequence[str], kinds: Sequence[str]) -> list[Floor | None]:
        """The floor of each queue; None where there is none."""
        return [None if line is None else line.floor for line in self._known(queues, kinds)]

    def rest(self, queues: Sequence[str], kinds: Sequence[str]) -> tuple[list[Floor | None], timedelta | None]:
        """Where whoever has nothing to do looks for what is due next, and how long until a claim looks back.

        After a claim that has looked back itself that is the head again: a job that another call has locked and lets go
        of without a word comes behind the floor, and comes with no hint.
        """
        lines = [line if line is not None and line.passed_over else None for line in self._known(queues, kinds)]
        floors = [None if line is None else line.floor for line in lines]
        back_at = min((line.back_at for line in lines if line is not None), default=None)
        if back_at is None:
            return floors, None
        wait = LOOKS_BACK.total_seconds() if back_at == math.inf else max(0.0, back_at - self._clock())
        return floors, timedelta(seconds=wait)

    def learn(
        self, look: Look, given: Sequence[ClaimedJob], told: Sequence[Any] | None, *, cleared: bool = False
    ) -> None:
        """Draws from a claim where the next one begins.

        `told` has when the statement began and ended, and the due time of each job given, None for an ended lease. It
        is None itself where little was read in vain. `cleared` says that a look back has found nothing just before.
        """
        if told is None:
            return
        began, ended, *due = told
        counts = Counter(job.queue for job in given)
        last = {job.queue: (at, job.id) for job, at in zip(given, due, strict=False)}
        left = look.limit
        for key, room, begun in zip(_keys(look.queues, look.kinds), look.rooms, look.floors, strict=True):
            if left <= 0:
                return
            count = counts[key[0]]
            full = count >= min(room, left)
            left -= count
            reached = _reached(begun, last.get(key[0]) if full else None, began - _EDGE)
            if room and reached is not None:
                self._reach(key, begun, reached, ended - began, passed_over=not cleared)

    def due(self, queues: Sequence[str], kinds: Sequence[str]) -> bool:
        """Whether it is time to look back in these queues. Whoever asks does so, and says when it is done."""
        lines = [line for line in self._known(queues, kinds) if line is not None]
        now = self._clock()
        if all(line.back_at > now for line in lines):
            return False
        for line in lines:
            line.back_at = math.inf
        return True

    def looked_back(
        self, queues: Sequence[str], kinds: Sequence[str], took: timedelta, *, read: int, found: Iterable[Found]
    ) -> None:
        """Lowers floors to what was found behind them. Where little was read the dead have gone, and floors go too."""
        keys = _keys(queues, kinds)
        if read <= _IN_VAIN:
            for key in keys:
                self._lines.pop(key, None)
        for place, due_at, job, lease_until in found:
            line = self._lines.get(keys[place - 1])
            if line is not None and due_at is not None:
                line.floor = line.floor.or_lower(replace(line.floor, due_at=due_at, id=job - 1))
            if line is not None and lease_until is not None:
                line.floor = line.floor.or_lower(replace(line.floor, lease_until=lease_until))
        self.look_back_after(queues, kinds, took)

    def look_back_after(self, queues: Sequence[str], kinds: Sequence[str], took: timedelta) -> None:
        """A look back has ended, after so long."""
        for line in self._known(queues, kinds):
            if line is not None:
                line.back_at = self._back_at(took)

    def _reach(self, key: _Key, begun: Floor | None, reached: Floor, took: timedelta, *, passed_over: bool) -> None:
        line = self._lines.get(key)
        if line is not None:
            moved = line.floor != begun  # by somebody else meanwhile
            line.floor = line.floor.or_lower(reached) if moved else reached
            line.passed_over = passed_over
        elif begun is None:
            self._lines[key] = _Line(floor=reached, back_at=self._back_at(took), passed_over=passed_over)

    def _back_at(self, took: timedelta) -> float:
        return self._clock() + max(LOOKS_BACK, _SHARE * took).total_seconds()

    def _known(self, queues: Sequence[str], kinds: Sequence[str]) -> list[_Line | None]:
        return [self._lines.get(key) for key in _keys(queues, kinds)] if self._lines else [None] * len(queues)


def places(floors: Sequence[Floor | None]) -> tuple[str, str, str]:
    """The floors as parameters of a statement, by position."""
    return (
        texts(_LOWEST if floor is None else instant(floor.due_at) for floor in floors),
        numbers(0 if floor is None else floor.id for floor in floors),
        texts(_LOWEST if floor is None else instant(floor.lease_until) for floor in floors),
    )


def _keys(queues: Sequence[str], kinds: Sequence[str]) -> list[_Key]:
    these = frozenset(kinds)
    return [(queue, these) for queue in queues]


def _reached(begun: Floor | None, last: tuple[datetime | None, int] | None, edge: datetime) -> Floor | None:
    """Up to where a claim has given all. `last` is the last job of a queue that filled it."""
    if last is None:
        return Floor(edge, 0, edge)
    at, job = last
    if at is None:
        return begun  # ended leases filled it, and nothing behind them was read
    return Floor(*min((at, job), (edge, 0)), edge)
