"""The memory store: every clause of the contract, and every capability, in this process."""

from datetime import timedelta

from klokka.core.clocks import Clock
from klokka.stores._clock import system_clock
from klokka.stores.memory.claiming import Claiming
from klokka.stores.memory.data import MemoryData
from klokka.stores.memory.enqueueing import Enqueueing
from klokka.stores.memory.fleet import Fleet
from klokka.stores.memory.handle import Handle
from klokka.stores.memory.keys import Keys
from klokka.stores.memory.leases import Leases
from klokka.stores.memory.operating import Operating
from klokka.stores.memory.querying import Querying
from klokka.stores.memory.scheduling import Scheduling
from klokka.stores.memory.sweeping import Sweeping
from klokka.stores.memory.transactions import Transactions
from klokka.stores.memory.wakeups import Wakeups


class MemoryStore(
    Enqueueing, Claiming, Operating, Scheduling, Sweeping, Querying, Transactions, Fleet, Keys, Leases, Wakeups
):
    """Keeps everything until the last handle is gone. Handles may live on any loop and thread of this process.

    It is the contract in its plainest form, for tests and for comparison; nothing survives the process.
    """

    def __init__(self, *, clock: Clock = system_clock, bound: timedelta = timedelta(seconds=5)) -> None:
        """`bound` is the longest wait for a key that an open transaction has taken, by the real clock."""
        Handle.__init__(self, MemoryData(clock=clock, bound=bound))
