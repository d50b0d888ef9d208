"""What an app does with jobs that exist."""

from datetime import timedelta

from klokka.app import job_verbs
from klokka.app.parts import Parts
from klokka.core.ids import JobId
from klokka.core.records import JobDetails


class Operating(Parts):
    """Looking, waiting, cancelling, requeueing, deleting; each with a twin for sync code."""

    async def get(self, id: JobId) -> JobDetails | None:
        """All that is known of a job; None if it is unknown or swept."""
        return await job_verbs.get(await self._connection.opened(), id)

    async def wait(self, id: JobId, *, timeout: timedelta | None = None) -> JobDetails:
        """The job as it ended.

        Raises:
            TimeoutError: it has not ended in time; the job goes on.
            InvalidInput: there is no such job, or none any more.
        """
        return await job_verbs.wait(await self._connection.opened(), id, timeout)

    async def cancel(self, id: JobId) -> bool:
        """Calls a job off unless it has ended, and says whether it did; a running handler is told at its next beat."""
        return await job_verbs.cancel(await self._connection.opened(), id)

    async def requeue(self, id: JobId) -> bool:
        """Runs an ended job again with its attempts counted anew, and says whether it did.

        Raises:
            UniqueConflict: another live job holds its unique key now.
        """
        return await job_verbs.requeue(await self._connection.opened(), id)

    async def delete(self, id: JobId) -> bool:
        """Removes a job whatever its state, and says whether it was there."""
        return await job_verbs.delete(await self._connection.opened(), id)

    def get_sync(self, id: JobId) -> JobDetails | None:
        """`get` from sync code."""
        return self._blocking.call(lambda store: job_verbs.get(store, id), "app.get(…)")

    def wait_sync(self, id: JobId, *, timeout: timedelta | None = None) -> JobDetails:
        """`wait` from sync code."""
        return self._blocking.call(lambda store: job_verbs.wait(store, id, timeout), "app.wait(…)")

    def cancel_sync(self, id: JobId) -> bool:
        """`cancel` from sync code."""
        return self._blocking.call(lambda store: job_verbs.cancel(store, id), "app.cancel(…)")

    def requeue_sync(self, id: JobId) -> bool:
        """`requeue` from sync code."""
        return self._blocking.call(lambda store: job_verbs.requeue(store, id), "app.requeue(…)")

    def delete_sync(self, id: JobId) -> bool:
        """`delete` from sync code."""
        return self._blocking.call(lambda store: job_verbs.delete(store, id), "app.delete(…)")
