"""claim, next_due and heartbeat: who may hold a job, and for how long."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from klokka.core.ids import Fence, JobId, WorkerId
from klokka.core.instants import positive
from klokka.core.names import check_text
from klokka.core.records import ClaimedJob
from klokka.errors import InvalidInput
from klokka.spi.jobs import NO_CAPS
from klokka.stores._doors import check_count, check_holding, known_fence, known_id, plausible
from klokka.stores.postgres.floors import places
from klokka.stores.postgres.handle import Handle
from klokka.stores.postgres.parameters import numbers, span, texts
from klokka.stores.postgres.rows import claimed_jobs, maybe

_MOST: Final = 1_000_000
"""More jobs than fit into one answer."""


class Claiming(Handle):
    """Implements the verbs of `JobVerbs` that give and keep leases, and `ProgressStore`."""

    async def claim(
        self,
        *,
        queues: Sequence[str],
        kinds: Collection[str],
        limit: int,
        lease: timedelta,
        worker: WorkerId,
        caps: Mapping[str, int] = NO_CAPS,
    ) -> list[ClaimedJob]:
        check_holding(worker, lease, limit)
        for queue, cap in caps.items():
            check_count(f"the cap of queue {queue!r}", cap)
        if not (queues and kinds and limit):
            return []
        most = min(limit, _MOST)
        lines = tuple(dict.fromkeys(queues))
        wanted = tuple(dict.fromkeys(kinds))
        rooms = [min(caps.get(queue, most), most) for queue in lines]
        session = self._open_session()
        cleared = await session.looking_back.begin(lines, wanted)
        look = session.floors.look(queues=lines, kinds=wanted, rooms=rooms, limit=most)
        rows = await session.database.write(
            "claim_jobs",
            texts(lines),
            numbers(rooms),
            texts(wanted),
            str(most),
            span(lease),
            worker,
            *places(look.floors),
            str(look.enough),
        )
        jobs, told = claimed_jobs(rows)
        session.floors.learn(look, jobs, told, cleared=cleared)
        return jobs

    async def next_due(self, *, queues: Sequence[str], kinds: Collection[str]) -> datetime | None:
        lines = tuple(dict.fromkeys(queues))
        wanted = tuple(dict.fromkeys(kinds))
        session = self._open_session()
        floors, wait = session.floors.rest(lines, wanted)
        ((at,),) = await session.database.read(
            "next_due", texts(lines), texts(wanted), *places(floors), None if wait is None else span(wait)
        )
        return maybe(at)

    async def heartbeat(self, held: Mapping[JobId, Fence], *, worker: WorkerId, extend: timedelta) -> set[JobId]:
        positive(extend, "extend")
        check_text("worker", worker)
        possible = sorted(plausible(dict(held)).items())
        if not possible:
            return set()
        rows = await self._database.write(
            "extend_leases",
            numbers(job for job, _ in possible),
            numbers(fence for _, fence in possible),
            worker,
            span(extend),
        )
        return {job for (job,) in rows}

    async def report_progress(self, id: JobId, *, fence: Fence, value: float) -> bool:
        if not 0.0 <= value <= 1.0:
            raise InvalidInput(f"progress is {value}. Give 0.0 to 1.0.")
        if not (known_id(id) and known_fence(fence)):
            return False
        return bool(await self._database.write("report_progress", str(id), str(fence), repr(float(value))))
