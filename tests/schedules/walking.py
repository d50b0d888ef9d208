"""The three ways through the ticks of a stretch of time, (low, high]; they must agree."""

from datetime import datetime, timedelta
from itertools import pairwise, takewhile

from klokka.schedules import Schedule


def at_once(schedule: Schedule, low: datetime, high: datetime) -> list[datetime]:
    return list(takewhile(lambda tick: tick <= high, schedule.ticks(low)))


def walk(schedule: Schedule, low: datetime, high: datetime) -> list[datetime]:
    ticks: list[datetime] = []
    tick = schedule.next(low)
    while tick is not None and tick <= high:
        ticks.append(tick)
        tick = schedule.next(tick)
    assert all(earlier < later for earlier, later in pairwise(ticks))
    return ticks


def walk_back(schedule: Schedule, low: datetime, high: datetime) -> list[datetime]:
    ticks: list[datetime] = []
    tick = schedule.prev(high + timedelta(microseconds=1))
    while tick is not None and tick > low:
        ticks.append(tick)
        tick = schedule.prev(tick)
    return ticks[::-1]
