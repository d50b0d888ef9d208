"""What people do with jobs that exist: look, wait, cancel, requeue, delete. Each is one function over a store."""

import asyncio
from datetime import timedelta

from klokka.app.capability import capable
from klokka.core.arguments import of_class
from klokka.core.ids import JobId
from klokka.core.instants import not_negative
from klokka.core.records import JobDetails
from klokka.core.states import TERMINAL
from klokka.errors import InvalidInput
from klokka.spi.operate import OperableStore
from klokka.spi.query import QueryableStore
from klokka.spi.store import JobStore


async def get(store: JobStore, id: JobId) -> JobDetails | None:
    """All that is known of the job, None if it is unknown or swept."""
    return await capable(store, QueryableStore, "get").get_job(_checked(id))


async def cancel(store: JobStore, id: JobId) -> bool:
    """Calls the job off unless it has ended, and says whether it did."""
    return await capable(store, OperableStore, "cancel").cancel(_checked(id))


async def requeue(store: JobStore, id: JobId) -> bool:
    """Runs an ended job again, and says whether it did."""
    return await capable(store, OperableStore, "requeue").requeue(_checked(id))


async def delete(store: JobStore, id: JobId) -> bool:
    """Removes the job whatever its state, and says whether it was there."""
    return await capable(store, OperableStore, "delete").delete(_checked(id))


async def wait(store: JobStore, id: JobId, timeout: timedelta | None) -> JobDetails:
    """The job as it ended, looked for often at first and once a second later.

    Raises:
        TimeoutError: it has not ended in time.
        InvalidInput: there is no such job, or there is none any more.
    """
    pause = 0.01
    if timeout is not None:
        not_negative(timeout, "timeout")
    async with asyncio.timeout(None if timeout is None else timeout.total_seconds()):
        while True:
            job = await get(store, id)
            if job is None:
                raise InvalidInput(f"job {id} is unknown: it never was, or was swept after its retention.")
            if job.summary.status in TERMINAL:
                return job
            await asyncio.sleep(pause)
            pause = min(1.0, pause * 1.5)


def _checked(id: JobId) -> JobId:
    of_class("the id of a job", id, int, "Give the number that enqueueing returned.")
    return id
