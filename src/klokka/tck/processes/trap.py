"""A place in the middle of a verb at which a process stops itself, wherever and on whichever thread that is."""

import itertools
import os
import signal
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any


class Trap:
    """Counts the steps of this process, calls and returns of functions, and stops it at one of them.

    Threads that were there before are not seen. It takes Python's profiling hook, as a debugger does.
    """

    def __init__(self, stops: Callable[[], None]) -> None:
        self._stops = stops
        self._steps = itertools.count()
        self._at = -1

    def set(self) -> None:
        """From here on the steps of this thread and of new ones are counted."""
        threading.setprofile(self._step)
        sys.setprofile(self._step)

    def arm(self, at: int = -1) -> None:
        """Counts anew, and stops at that step; at none if it is not given."""
        self._at = at
        self._steps = itertools.count()

    def steps(self) -> int:
        """How many steps there were; asking is one more."""
        return next(self._steps)

    def _step(self, frame: FrameType, event: str, arg: Any) -> None:
        del frame, event, arg
        if next(self._steps) == self._at:
            self._stops()
            os.kill(os.getpid(), signal.SIGSTOP)
