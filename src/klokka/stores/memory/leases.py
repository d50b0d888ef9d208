"""Named leases and the cursors that only their holders move."""

from datetime import datetime, timedelta

from klokka.core.ids import Fence
from klokka.core.instants import FIRST, after, aware, positive
from klokka.core.names import check_key
from klokka.stores.memory.data import Lease
from klokka.stores.memory.handle import LIMITS, Handle


class Leases(Handle):
    """Implements `LeaseStore`."""

    async def acquire_lease(self, name: str, owner: str, ttl: timedelta) -> Fence | None:
        check_key("lease name", name, LIMITS.name)
        check_key("lease owner", owner, LIMITS.name)
        positive(ttl, "ttl")
        with self._statement() as now:
            until = after(now, ttl, "ttl")
            lease = self._data.leases.get(name)
            if lease is not None and now < lease.until:
                if lease.owner != owner:
                    return None
                lease.until = until
                return lease.fence
            fence = Fence(1 if lease is None else lease.fence + 1)
            self._data.leases[name] = Lease(owner=owner, until=until, fence=fence)
            return fence

    async def release_lease(self, name: str, owner: str) -> bool:
        with self._statement() as now:
            lease = self._data.leases.get(name)
            if lease is None or lease.owner != owner or lease.until <= now:
                return False
            lease.until = FIRST  # and not only now: a clock that steps back must not revive it [time.backwards]
            return True

    async def read_cursor(self, name: str) -> datetime | None:
        with self._statement():
            return self._data.cursors.get(name)

    async def advance_cursor(self, name: str, to: datetime, *, lease: str, fence: Fence) -> bool:
        check_key("cursor name", name, LIMITS.name)
        target = aware(to, "cursor")
        with self._statement() as now:
            held = self._data.leases.get(lease)
            if held is None or held.fence != fence or held.until <= now:
                return False
            stands_at = self._data.cursors.get(name)
            if stands_at is not None and target <= stands_at:
                return False
            self._data.cursors[name] = target
            return True
