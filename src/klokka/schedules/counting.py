"""Counting ticks by bounded work: exact up to a limit, then "at least"."""

from dataclasses import dataclass
from datetime import datetime
from itertools import islice, takewhile
from typing import Final

from klokka.core.instants import aware
from klokka.schedules.schedule import Schedule

COUNTED: Final = 1000
"""Up to so many ticks are counted exactly."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """How many; unless `exact`, there are more."""

    number: int
    exact: bool

    def __str__(self) -> str:
        return f"{self.number:,}" if self.exact else f"at least {self.number:,}"


def count_ticks(schedule: Schedule, *, after: datetime, until: datetime, most: int = COUNTED) -> Count:
    """The ticks later than `after` and not later than `until`, never counting on beyond `most`."""
    end = aware(until, "until")
    counted = sum(1 for _ in islice(takewhile(lambda tick: tick <= end, schedule.ticks(after)), most + 1))
    return Count(number=min(counted, most), exact=counted <= most)
