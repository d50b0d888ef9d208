"""Sweep: bounded steps of forgetting."""

from datetime import timedelta
from typing import Final

from klokka.core.ids import MAX_ID
from klokka.core.records import RetentionPolicy, SweepReport
from klokka.core.states import JobStatus
from klokka.stores._doors import check_count
from klokka.stores.postgres.handle import Handle
from klokka.stores.postgres.parameters import span, texts

_OLDEST: Final = timedelta(days=4000 * 365)
"""Longer than any job can have been kept, and short enough to be taken from now."""


class Sweeping(Handle):
    """Implements `JobVerbs.sweep`."""

    async def sweep(self, retention: RetentionPolicy, *, limit: int = 1000) -> SweepReport:
        check_count("limit", limit)
        kept = {
            JobStatus.SUCCEEDED: retention.succeeded_for,
            JobStatus.CANCELLED: retention.cancelled_for,
            JobStatus.DEAD_LETTERED: retention.dead_lettered_for,
        }
        ages = {status: min(age, _OLDEST) for status, age in kept.items() if age is not None}
        ((jobs, keys, more),) = await self._database.write(
            "sweep", texts(ages), texts(map(span, ages.values())), str(min(limit, MAX_ID - 1))
        )
        return SweepReport(jobs=jobs, keys=keys, more=more)
