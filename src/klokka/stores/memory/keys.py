"""Idempotency keys, alone and together with a job."""

import secrets
from datetime import datetime, timedelta

from klokka.core.ids import JobId, KeyToken
from klokka.core.instants import after, positive
from klokka.core.names import check_key
from klokka.core.records import NewJob
from klokka.errors import UniqueConflict
from klokka.stores.memory.data import IdempotencyRecord
from klokka.stores.memory.handle import LIMITS, Handle


class Keys(Handle):
    """Implements `EnqueueOnceStore`."""

    async def claim_key(self, scope: str, key: str, ttl: timedelta) -> KeyToken | None:
        check_record(scope, key, ttl)
        with self._statement() as now:
            return self._claim(scope, key, ttl, now)

    async def release_key(self, scope: str, key: str, token: KeyToken) -> bool:
        with self._statement() as now:
            record = self._data.records.get((scope, key))
            if record is None or record.token != token or record.until <= now:
                return False
            del self._data.records[scope, key]
            return True

    async def enqueue_once(self, job: NewJob, *, scope: str, key: str, ttl: timedelta) -> JobId | None:
        check_record(scope, key, ttl)
        LIMITS.admit([job])

        def once(now: datetime) -> JobId | None:
            if self._taken(scope, key, now):
                return None
            holder = None if job.unique_key is None else self._data.holder(job.unique_key)
            if holder is not None:
                raise UniqueConflict(
                    f"job {holder} holds the unique key of this job; key and job were not written.", holder=holder
                )
            until = after(now, ttl, "ttl")
            (result,) = self._data.insert([job], now)
            self._data.records[scope, key] = IdempotencyRecord(token=fresh_token(), until=until)
            return result.id

        return await self._settled(once)

    def _claim(self, scope: str, key: str, ttl: timedelta, now: datetime) -> KeyToken | None:
        if self._taken(scope, key, now):
            return None
        record = IdempotencyRecord(token=fresh_token(), until=after(now, ttl, "ttl"))
        self._data.records[scope, key] = record
        return record.token

    def _taken(self, scope: str, key: str, now: datetime) -> bool:
        record = self._data.records.get((scope, key))
        return record is not None and now < record.until


def fresh_token() -> KeyToken:
    """A proof that nobody can guess [key.owner]."""
    return KeyToken(secrets.token_hex(16))


def check_record(scope: str, key: str, ttl: timedelta) -> None:
    """Returns if the record may be written.

    Raises:
        InvalidInput: a text that no store keeps, or a ttl that is not longer than nothing.
    """
    check_key("scope", scope, LIMITS.name)
    check_key("key", key, LIMITS.key)
    positive(ttl, "ttl")
