"""Idempotency keys, alone and together with a job."""

import secrets
from datetime import timedelta

from klokka.core.ids import JobId, KeyToken
from klokka.core.instants import positive
from klokka.core.names import check_key
from klokka.core.records import NewJob
from klokka.errors import UniqueConflict
from klokka.stores.postgres.database import Transaction
from klokka.stores.postgres.handle import Handle
from klokka.stores.postgres.inserts import rendered, results
from klokka.stores.postgres.parameters import span


class Keys(Handle):
    """Implements `EnqueueOnceStore`."""

    async def claim_key(self, scope: str, key: str, ttl: timedelta) -> KeyToken | None:
        self._check_key(scope, key, ttl)
        rows = await self._database.write("claim_key", scope, key, secrets.token_hex(16), span(ttl))
        return KeyToken(rows[0][0]) if rows else None

    async def release_key(self, scope: str, key: str, token: KeyToken) -> bool:
        return bool(await self._database.write("release_key", scope, key, token))

    async def enqueue_once(self, job: NewJob, *, scope: str, key: str, ttl: timedelta) -> JobId | None:
        self._check_key(scope, key, ttl)
        self._setting.limits.admit([job])
        insert = rendered([job])

        async def act(tx: Transaction) -> JobId | None:
            if not await tx.run("claim_key", scope, key, secrets.token_hex(16), span(ttl)):
                return None
            (result,) = results(await tx.run(insert.name, insert.jobs))
            if not result.created:
                raise UniqueConflict(
                    f"Job {result.id} is live and holds the unique key; neither job nor idempotency key was written. "
                    f"Wait until it has ended, or leave the unique key out.",
                    holder=result.id,
                )
            return result.id

        return await self._database.transact(act)

    def _check_key(self, scope: str, key: str, ttl: timedelta) -> None:
        check_key("scope", scope, self._setting.limits.key)
        check_key("key", key, self._setting.limits.key)
        positive(ttl, "ttl")
