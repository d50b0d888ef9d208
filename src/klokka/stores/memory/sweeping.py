"""sweep: what is older than its retention goes."""

from itertools import islice

from klokka.core.ids import MAX_ID
from klokka.core.records import RetentionPolicy, SweepReport
from klokka.core.states import JobStatus
from klokka.errors import InvalidInput
from klokka.stores.memory.handle import Handle


class Sweeping(Handle):
    """Implements `JobVerbs.sweep`."""

    async def sweep(self, retention: RetentionPolicy, *, limit: int = 1000) -> SweepReport:
        if limit < 0:
            raise InvalidInput(f"limit must be zero or more, not {limit}.")
        limit = min(limit, MAX_ID - 1)
        kept_for = {
            JobStatus.SUCCEEDED: retention.succeeded_for,
            JobStatus.CANCELLED: retention.cancelled_for,
            JobStatus.DEAD_LETTERED: retention.dead_lettered_for,
        }
        with self._statement() as now:
            old_jobs = (
                row
                for row in self._data.table.rows.values()
                if row.terminal_at is not None
                and (keep := kept_for[row.status]) is not None
                and now - row.terminal_at > keep
            )
            old_keys = (key for key, record in self._data.records.items() if record.until <= now)
            jobs, keys = list(islice(old_jobs, limit + 1)), list(islice(old_keys, limit + 1))
            for row in jobs[:limit]:
                self._data.table.remove(row)
            for key in keys[:limit]:
                del self._data.records[key]
        return SweepReport(
            jobs=min(len(jobs), limit), keys=min(len(keys), limit), more=len(jobs) > limit or len(keys) > limit
        )
