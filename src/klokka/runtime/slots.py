"""The places where jobs run: a shared total, caps for queues, and the claimed jobs that wait for a place."""

import math
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from klokka.core.queues import Queue
from klokka.runtime.held import Held


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """What one claim may bring: `limit` in all, and `caps` where a queue takes less."""

    limit: int
    caps: Mapping[str, int]


class _Line:
    __slots__ = ("cap", "name", "running", "waiting")

    def __init__(self, queue: Queue, total: int) -> None:
        self.name = queue.name
        self.cap = total if queue.concurrency is None else min(queue.concurrency, total)
        self.running = 0
        self.waiting: deque[Held] = deque()


class Slots:
    """Places and the lines before them, in drain order. Belongs to the loop."""

    def __init__(self, queues: Sequence[Queue], total: int) -> None:
        self.total = total
        self.running = 0
        self.waiting = 0
        self._order = [_Line(queue, total) for queue in queues]
        self._lines = {line.name: line for line in self._order}
        self._capped = [line for line in self._order if line.cap < total]
        self._below = 0
        self._tight: frozenset[str] = frozenset()
        self._tell: Callable[[], None] | None = None

    def room(self, ahead: int) -> Room:
        """What may be claimed now, with `ahead` jobs beyond the places."""
        caps = {
            line.name: max(0, line.cap + ahead * line.cap // self.total - line.running - len(line.waiting))
            for line in self._capped
        }
        return Room(limit=max(0, self.total + ahead - self.running - self.waiting), caps=caps)

    def call_when_roomy(
        self, tell: Callable[[], None] | None, *, below: int = 0, tight: frozenset[str] = frozenset()
    ) -> None:
        """Calls `tell` when a place is freed and fewer than `below` jobs are held, or it is in a `tight` queue."""
        self._tell, self._below, self._tight = tell, below, tight

    def put(self, held: Held) -> None:
        """Places a claimed job at the end of its queue's line."""
        self._lines[held.job.queue].waiting.append(held)
        self.waiting += 1

    def take(self) -> Held | None:
        """The next job that may start, its place taken; None if none may. Lost ones are passed over."""
        if self.waiting == 0 or self.running >= self.total:
            return None
        for line in self._order:
            while line.waiting and line.running < line.cap:
                held = line.waiting.popleft()
                self.waiting -= 1
                if held.ending is None:
                    line.running += 1
                    self.running += 1
                    return held
        return None

    def release(self, queue: str) -> None:
        """Frees the place of a job that ended."""
        self._lines[queue].running -= 1
        self.running -= 1

    def freed(self, queue: str) -> None:
        """Tells whoever waits for room; called once the place freed in `queue` was offered to the lines."""
        if self._tell is not None and (self.running + self.waiting < self._below or queue in self._tight):
            self._tell()

    def withdraw(self, *, before: float = math.inf) -> list[Held]:
        """Takes out of the lines what has stood there since a time of the monotonic clock before `before`."""
        stood: list[Held] = []
        for line in self._order:
            while line.waiting and line.waiting[0].since < before:
                stood.append(line.waiting.popleft())
        self.waiting -= len(stood)
        return stood
