"""What a schedule is to everybody else: instants in, instants out, and the same answer on every node."""

from collections.abc import Iterator
from datetime import datetime
from typing import Protocol, runtime_checkable


@runtime_checkable
class Schedule(Protocol):
    """A frozen value that says when. T is the set of its ticks; no clock is read."""

    @property
    def zone(self) -> str:
        """The IANA name of the zone in which it is written."""
        ...

    def next(self, after: datetime) -> datetime | None:
        """The earliest tick later than `after`, in UTC; None if the calendar ends first.

        It depends on `after` alone, so every node agrees, and it grows with it.

        Raises:
            InvalidTime: `after` is naive.
        """
        ...

    def prev(self, before: datetime) -> datetime | None:
        """The latest tick earlier than `before`, in UTC, by bounded work; None if the calendar begins later.

        Raises:
            InvalidTime: `before` is naive.
        """
        ...

    def ticks(self, after: datetime) -> Iterator[datetime]:
        """The ticks later than `after`, in order, until the calendar ends: `next` over and over, only cheaper."""
        ...

    def describe(self) -> str:
        """The definition in plain words, its zone included."""
        ...

    def canonical(self) -> str:
        """The definition in the one form that equal meanings share; what a fingerprint is made from."""
        ...

    def note(self, tick: datetime) -> str | None:
        """What a change of the clocks does to this tick, in words; None if nothing."""
        ...
