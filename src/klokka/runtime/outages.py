"""Patience with what fails from outside: how long to wait, and how seldom to speak of it."""

import logging
import random
import time
from datetime import timedelta
from typing import Final

from klokka.core.durations import spell

logger = logging.getLogger("klokka.outage")

FIRST_WAIT: Final = 0.05
LONGEST_WAIT: Final = 5.0
_TELL_EVERY: Final = 60.0


class Outage:
    """Backs off, capped and jittered, while something fails, and logs each change of state, and a failure each minute.

    `what` fails, in the words of the log. It decides no repetition itself: the caller sleeps and tries.
    """

    __slots__ = ("_first", "_longest", "_since", "_told", "_tries", "_what")

    def __init__(self, what: str, *, first: float = FIRST_WAIT, longest: float = LONGEST_WAIT) -> None:
        self._what = what
        self._first = first
        self._longest = longest
        self._tries = 0
        self._since = 0.0
        self._told = 0.0

    @property
    def lasts(self) -> bool:
        """Whether the last try failed."""
        return self._tries > 0

    def failed(self, error: BaseException) -> float:
        """Notes a failed try and gives the seconds to wait before the next."""
        now = time.monotonic()
        if self._tries == 0:
            self._since = self._told = now
            logger.warning("%s fails (%s: %s); trying again until it works", self._what, type(error).__name__, error)
        elif now - self._told >= _TELL_EVERY:
            self._told = now
            lasts = spell(timedelta(seconds=now - self._since))
            logger.warning("%s still fails after %s (%s: %s)", self._what, lasts, type(error).__name__, error)
        self._tries += 1
        wait = min(self._longest, self._first * 2.0 ** min(self._tries - 1, 30))
        return wait * random.uniform(0.75, 1.0)

    def over(self) -> None:
        """Notes that it works."""
        if self._tries:
            lasted = spell(timedelta(seconds=time.monotonic() - self._since))
            logger.warning("%s works again after %s; tries that failed: %d", self._what, lasted, self._tries)
            self._tries = 0
