"""Named leases and the cursors that only their holders move."""

from datetime import datetime, timedelta

from klokka.core.ids import Fence
from klokka.core.instants import positive
from klokka.core.names import check_key
from klokka.stores._doors import known_fence
from klokka.stores.postgres.handle import Handle
from klokka.stores.postgres.parameters import instant, span
from klokka.stores.postgres.rows import utc


class Leases(Handle):
    """Implements `LeaseStore`."""

    async def acquire_lease(self, name: str, owner: str, ttl: timedelta) -> Fence | None:
        check_key("lease name", name, self._setting.limits.name)
        check_key("owner", owner, self._setting.limits.name)
        positive(ttl, "ttl")
        rows = await self._database.write("acquire_lease", name, owner, span(ttl))
        return Fence(rows[0][0]) if rows else None

    async def release_lease(self, name: str, owner: str) -> bool:
        return bool(await self._database.write("release_lease", name, owner))

    async def read_cursor(self, name: str) -> datetime | None:
        rows = await self._database.read("read_cursor", name)
        return utc(rows[0][0]) if rows else None

    async def advance_cursor(self, name: str, to: datetime, *, lease: str, fence: Fence) -> bool:
        check_key("cursor name", name, self._setting.limits.name)
        at = instant(to)
        return known_fence(fence) and bool(await self._database.write("advance_cursor", name, at, lease, str(fence)))
