"""How a worker works: slots, leases, patience."""

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

from klokka.core.arguments import count, of_class
from klokka.core.durations import spell
from klokka.core.instants import not_negative, positive
from klokka.core.queues import Queue, in_drain_order
from klokka.core.records import RetentionPolicy
from klokka.errors import InvalidTime
from klokka.spi.wakeups import LONGEST_SLEEP

_SHORTEST_LEASE: Final = timedelta(milliseconds=100)
"""Below, leases end before claims come back, and nothing would ever be started."""
_LONGEST_LEASE: Final = timedelta(days=365)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerSettings:
    """Settings of one worker, checked when made.

    `concurrency` slots are shared by all queues. A lease is renewed at a third of `lease`. At a stop running work has
    `grace` to finish, then it is cancelled and has `hard_stop` to obey. `poll` is the longest an idle worker sleeps:
    the net under wakeups, not the way that work is found, and a minute at most.

    Raises:
        InvalidInput: or one of its kinds: a number or a time is out of range.
    """

    queues: tuple[Queue, ...] = (Queue("default"),)
    concurrency: int = 10
    lease: timedelta = timedelta(seconds=30)
    grace: timedelta = timedelta(seconds=25)
    hard_stop: timedelta = timedelta(seconds=5)
    poll: timedelta = timedelta(seconds=5)
    retention: RetentionPolicy = field(default_factory=RetentionPolicy)
    sweep_every: timedelta = timedelta(minutes=1)
    blocked_after: timedelta = timedelta(seconds=1)
    """How long the event loop may stand still before the watchdog says so."""

    def __post_init__(self) -> None:
        in_drain_order(self.queues)
        count("concurrency", self.concurrency)
        of_class("retention", self.retention, RetentionPolicy, "Give a klokka.RetentionPolicy(…).")
        for name in ("lease", "hard_stop", "poll", "sweep_every", "blocked_after"):
            positive(getattr(self, name), name)
        not_negative(self.grace, "grace")
        if not _SHORTEST_LEASE <= self.lease <= _LONGEST_LEASE:
            raise InvalidTime(f"lease must be {_SHORTEST_LEASE} to {_LONGEST_LEASE} long, not {self.lease}.")
        if self.poll > LONGEST_SLEEP:
            raise InvalidTime(
                f"poll must be {spell(LONGEST_SLEEP)} or less, not {spell(self.poll)}: stores give no hint for jobs that "
                f"are planned further ahead, and an idle worker would start them late."
            )
