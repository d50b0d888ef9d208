"""What time it may have been for an operation."""

from collections.abc import Iterable, Iterator
from datetime import datetime

from klokka.tck.history.record import Operation


class Moments:
    """The store's clock through a history in which it moved only when it was moved.

    A verb goes by one instant between its beginning and its end; what it writes may be seen later than that
    [time.store-clock]. So others may have moved the clock on before its effect is there.
    """

    def __init__(self, begin: datetime, operations: Iterable[Operation]) -> None:
        self.begin = begin
        moves = sorted((it.begun, it.ended, it.asked["by"]) for it in operations if it.verb == "advance")
        self._ends = [ended for _, ended, _ in moves]
        self._times = [begin]
        for _, _, by in moves:
            self._times.append(self._times[-1] + by)

    def possible(self, operation: Operation, now: datetime) -> Iterator[datetime]:
        """By which instants it may have gone if its effect came at `now`, the latest first."""
        passed = sum(ended <= operation.begun for ended in self._ends)
        return (time for time in reversed(self._times[passed:]) if time <= now)
