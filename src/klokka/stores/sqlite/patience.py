"""Bounded waiting for a lock of somebody else's [enqueue.bounded] [claim.wait-free]."""

import random
import sqlite3
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeVar

from klokka.stores.sqlite.failures import busy

T = TypeVar("T")

_SHORTEST: Final = 0.0002
_LONGEST: Final = 0.005


@dataclass(frozen=True, slots=True)
class Patience:
    """Tries again while a lock is held, until `bound` seconds have passed.

    SQLite's own waiting steps up to a tenth of a second between looks, so that among eight busy writers a late-comer
    can miss the place for seconds. Looking every few milliseconds, at random, costs little and starves nobody.
    """

    bound: float

    def wait(self, attempt: Callable[[], T], *, since: float) -> T:
        """What `attempt` returns. `since` is a monotonic time; at least one attempt is made, however late it is.

        Raises:
            sqlite3.OperationalError: still locked at the bound, or any other error at once.
        """
        pause = _SHORTEST
        while True:
            try:
                return attempt()
            except sqlite3.OperationalError as error:
                if not busy(error) or self.over(since):
                    raise
            time.sleep(random.uniform(pause / 2, pause))
            pause = min(pause * 1.5, _LONGEST)

    def over(self, since: float) -> bool:
        """Whether the bound has passed."""
        return time.monotonic() >= since + self.bound
