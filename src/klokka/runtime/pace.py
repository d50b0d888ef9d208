"""How far ahead of its free slots a worker may claim."""

from datetime import timedelta
from typing import Final

HORIZON: Final = 0.5
"""Seconds of work that may be held unstarted: little enough that other workers do not miss it."""
WORTH_IT_BELOW: Final = 0.1
"""Seconds a job; above, the round trip of a claim is small beside the job, and holding work helps nobody."""
MOST: Final = 500
_WEIGHT: Final = 0.05


class Pace:
    """A moving average of run times, and the look-ahead that follows from it."""

    __slots__ = ("_average", "_horizon", "_slots")

    def __init__(self, slots: int, lease: timedelta) -> None:
        self._slots = slots
        self._horizon = min(HORIZON, lease.total_seconds() / 10)
        self._average = WORTH_IT_BELOW

    def note(self, seconds: float) -> None:
        """Takes in one run."""
        self._average += (seconds - self._average) * _WEIGHT

    def slow_down(self) -> None:
        """Forgets the average: what was claimed ahead did not start in time."""
        self._average = max(self._average, WORTH_IT_BELOW)

    @property
    def ahead(self) -> int:
        """How many jobs may be held beyond those that run."""
        if self._average >= WORTH_IT_BELOW:
            return 0
        return min(MOST, int(self._slots * self._horizon / max(self._average, 1e-6)))
