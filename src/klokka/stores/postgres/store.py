"""The PostgreSQL store: every verb of the contract, and every capability."""

from klokka.stores.postgres.claiming import Claiming
from klokka.stores.postgres.diagnosing import Diagnosing
from klokka.stores.postgres.enqueueing import Enqueueing
from klokka.stores.postgres.fleet import Fleet
from klokka.stores.postgres.keys import Keys
from klokka.stores.postgres.leases import Leases
from klokka.stores.postgres.operating import Operating
from klokka.stores.postgres.querying import Querying
from klokka.stores.postgres.scheduling import Scheduling
from klokka.stores.postgres.sweeping import Sweeping
from klokka.stores.postgres.transacting import Transacting
from klokka.stores.postgres.wakeups import Wakeups


class PostgresStore(
    Enqueueing,
    Transacting,
    Claiming,
    Operating,
    Scheduling,
    Sweeping,
    Querying,
    Fleet,
    Keys,
    Leases,
    Wakeups,
    Diagnosing,
):
    """Jobs and schedules in one schema of a PostgreSQL database, 14 or newer, for any number of processes.

    What each verb promises stands in `klokka.spi`, and nothing is promised beyond that. A commit outlives the machine
    unless the server itself was set not to write through (`fsync = off`).
    """
