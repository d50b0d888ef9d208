"""How long a verb still waits for others. To the server the bound is of each wait; here it is of all of them together."""

import time
from datetime import timedelta
from typing import Final

_MOMENT: Final = timedelta(milliseconds=1)
"""The shortest wait that the server knows: none at all is any length of time to it."""


class Patience:
    """Begins to run out when it is made."""

    def __init__(self, bound: timedelta) -> None:
        self._step = bound / 8
        self._until = time.monotonic() + bound.total_seconds()

    @property
    def over(self) -> bool:
        """Whether all of it is gone."""
        return time.monotonic() > self._until

    @property
    def left(self) -> timedelta:
        """For the next wait: a moment at least, in which a lock that is free is had."""
        return max(timedelta(seconds=self._until - time.monotonic()), _MOMENT)

    def less_than(self, granted: timedelta) -> timedelta | None:
        """What is left, if that is so much less than what was granted that the server should be told."""
        left = self.left
        return left if left < granted - self._step else None
