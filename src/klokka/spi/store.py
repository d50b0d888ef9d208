"""What every store is."""

from typing import Protocol

from klokka.spi.jobs import JobVerbs
from klokka.spi.life import StoreLife
from klokka.spi.schedules import ScheduleVerbs


class JobStore(StoreLife, JobVerbs, ScheduleVerbs, Protocol):
    """A store that fulfils the contract: life, jobs and schedules.

    What it may also do are the capabilities, each a protocol of its own, found by type and never by a flag or by
    trying: `wakeups`, `query`, `transactions`, `batch`, `operate`, `fleet`, `keys`. Beside the
    contract, for people: `life.MigratableStore` and `diagnosis`.
    """
