"""Clocks as values: what a store reads time from, and one that tests move by hand."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from klokka.core.instants import aware

Clock = Callable[[], datetime]
"""Gives the present as an aware instant. Stores read theirs at each statement [time.store-clock]."""


class ManualClock:
    """Stands still until it is moved, so that tests decide what time it is."""

    def __init__(self, start: datetime = datetime(2026, 1, 1, tzinfo=UTC)) -> None:
        self._now = aware(start, "start")

    def __call__(self) -> datetime:
        return self._now

    def advance(self, by: timedelta = timedelta(0), **parts: float) -> datetime:
        """Moves by `by`, or by the parts of a timedelta (`hours=1`), also backwards, and returns the new present."""
        self._now += by + timedelta(**parts)
        return self._now

    def set(self, to: datetime) -> None:
        """Moves to an instant, also into the past."""
        self._now = aware(to, "clock")
