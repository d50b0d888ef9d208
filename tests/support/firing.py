"""Schedules that are due and claimed."""

from datetime import timedelta

from klokka.core.ids import ScheduleId, WorkerId
from klokka.core.schedule_records import ScheduleFire, ScheduleSpec
from klokka.spi.store import JobStore


async def fires(store: JobStore, count: int) -> list[ScheduleFire]:
    """So many fires, each under a lease of a minute."""
    at = await store.now()
    ids = [ScheduleId(f"s{number}") for number in range(count)]
    await store.upsert_schedules(
        [ScheduleSpec(id=known, kind="k", fingerprint="v1", description="", fire_at=at) for known in ids]
    )
    return await store.due_schedules(ids=ids, limit=count, lease=timedelta(minutes=1), worker=WorkerId("w"))
