"""The names of the model: idempotency keys, and leases with their cursors."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from klokka.core.ids import Fence, JobId, KeyToken
from klokka.core.records import EnqueueResult, NewJob
from klokka.errors import UniqueConflict
from klokka.tck.model.work import Work
from klokka.tck.violations import expect

Key = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelKey:
    """A claimed key. The token is None where only a job came back."""

    token: KeyToken | None
    until: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelLease:
    """A named lease, the last of its name."""

    owner: str
    until: datetime
    fence: Fence


class Names:
    """Every key, lease and cursor."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self.keys: dict[Key, ModelKey] = {}
        self.leases: dict[str, ModelLease] = {}
        self.cursors: dict[str, datetime] = {}

    def claim_key(self, now: datetime, seen: KeyToken | None, key: Key, ttl: timedelta) -> None:
        if self._taken(key, now):
            expect(seen, "key.once").equals(None, "one gets a token until the ttl has passed")
        else:
            expect(seen, "key.once").differs(None, "the key is free")
            self.keys[key] = ModelKey(token=seen, until=now + ttl)

    def release_key(self, now: datetime, seen: bool, key: Key, token: KeyToken) -> None:
        owned = self._taken(key, now) and self.keys[key].token == token
        expect(seen, "key.owner").equals(owned, "only the token frees its claim, and only while that lasts")
        if owned:
            del self.keys[key]

    def enqueue_once(
        self, now: datetime, seen: JobId | UniqueConflict | None, new: NewJob, key: Key, ttl: timedelta
    ) -> None:
        if self._taken(key, now):
            expect(seen, "key.atomic").equals(None, "None for a duplicate of (scope, key)")
            return
        holder = self._work.holder(new.unique_key)
        if holder is not None:
            said = seen.holder if isinstance(seen, UniqueConflict) else seen
            expect(type(seen), "key.atomic").equals(UniqueConflict, "a held unique key writes neither and raises")
            expect(said, "key.atomic").equals(holder, "with the holder's id")
            return
        expect(seen, "key.atomic").fulfils(lambda it: isinstance(it, int), "a job's id", "key and job are written")
        if isinstance(seen, int):
            self._work.enqueue(now, [new], [EnqueueResult(id=seen, created=True)])
        self.keys[key] = ModelKey(token=None, until=now + ttl)

    def past(self, now: datetime) -> list[Key]:
        """The records past their ttl."""
        return [key for key, record in self.keys.items() if record.until <= now]

    def swept(self, now: datetime, seen: int) -> None:
        """By a sweep whose limit had room for all of them."""
        old = self.past(now)
        expect(seen, "sweep.retention").equals(len(old), "idempotency records past their ttl go, and no others")
        for key in old:
            del self.keys[key]

    def acquire(self, now: datetime, seen: Fence | None, name: str, owner: str, ttl: timedelta) -> None:
        lease = self.leases.get(name)
        alive = lease is not None and now < lease.until
        if lease is not None and alive and lease.owner != owner:
            expect(seen, "lease.one").equals(None, "one owner at a time")
            return
        expect(seen, "lease.one").differs(None, "the lease is free, or the caller's own")
        if lease is not None and alive:
            expect(seen, "lease.one").equals(lease.fence, "the owner's own call renews and keeps the fence")
        elif lease is not None:
            expect(seen, "lease.one").above(lease.fence, "an acquisition after the end gets a higher fence")
        self.leases[name] = ModelLease(owner=owner, until=now + ttl, fence=seen or Fence(0))

    def release(self, now: datetime, seen: bool, name: str, owner: str) -> None:
        lease = self.leases.get(name)
        owned = lease is not None and lease.owner == owner and now < lease.until
        expect(seen, "lease.one").equals(owned, "says whether the owner held it")
        if lease is not None and owned:
            self.leases[name] = ModelLease(owner=owner, until=now, fence=lease.fence)

    def advance(self, now: datetime, seen: bool, name: str, to: datetime, lease: str, fence: Fence) -> None:
        held = self.leases.get(lease)
        under = held is not None and held.fence == fence and now < held.until
        forward = name not in self.cursors or to > self.cursors[name]
        expect(seen, "lease.cursor").equals(under and forward, "forward only, and only under the current fence")
        if under and forward:
            self.cursors[name] = to

    def read(self, seen: datetime | None, name: str) -> None:
        expect(seen, "lease.cursor").equals(self.cursors.get(name), "where its holder has moved it")

    def _taken(self, key: Key, now: datetime) -> bool:
        record = self.keys.get(key)
        return record is not None and now < record.until
