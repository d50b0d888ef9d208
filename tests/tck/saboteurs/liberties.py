"""Stores that do a little more or less than they were asked, and mean well."""

import asyncio
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from klokka.core.ids import Fence, JobId, KeyToken, ScheduleId
from klokka.core.records import Change, ClaimedJob, EnqueueResult, NewJob, RetentionPolicy, SweepReport
from klokka.core.schedule_records import ScheduleFire, ScheduleSpec
from klokka.core.states import TERMINAL, status_of
from klokka.core.worker_records import WorkerBeat
from klokka.errors import StoreError
from klokka.stores.memory.data import KeyReserved
from klokka.stores.memory.handle import busy
from klokka.stores.memory.rows import JobRow
from klokka.stores.memory.store import MemoryStore
from tests.tck.saboteurs.registry import breaks


@breaks("claim.caps")
class ClaimsFromCappedQueuesToo:
    async def claim(self, **arguments: Any) -> list[ClaimedJob]:
        queues = [*arguments["queues"], *arguments.get("caps", {})]
        return await super().claim(**{**arguments, "queues": queues})


@breaks("claim.caps")
class CountsWhatRunsAgainstTheCap:
    async def claim(self, **arguments: Any) -> list[ClaimedJob]:
        caps = arguments.get("caps", {})
        running = {depth.queue: depth.running for depth in await self.queue_depths()}
        left = {queue: max(0, cap - running.get(queue, 0)) for queue, cap in caps.items()}
        return await super().claim(**{**arguments, "caps": left if min(caps.values(), default=0) >= 0 else caps})


@breaks("claim.kinds")
class KnowsAHundredKinds:
    async def claim(self, **arguments: Any) -> list[ClaimedJob]:
        return await super().claim(**{**arguments, "kinds": list(arguments["kinds"])[:100]})


@breaks("claim.queue-order")
class KnowsTenQueues:
    async def claim(self, **arguments: Any) -> list[ClaimedJob]:
        return await super().claim(**{**arguments, "queues": arguments["queues"][:10]})


@breaks("claim.next-due")
class LooksIntoTenQueues:
    async def next_due(self, *, queues: Sequence[str], **arguments: Any) -> datetime | None:
        return await super().next_due(queues=queues[:10], **arguments)


@breaks("heartbeat.held")
class BeatsForAThousand:
    async def heartbeat(self, held: Mapping[JobId, Fence], **arguments: Any) -> set[JobId]:
        return await super().heartbeat(dict(list(held.items())[:1000]), **arguments)


@breaks("batch.each")
class ChangesAThousand:
    async def transition_many(self, changes: Sequence[Change]) -> list[bool]:
        return await super().transition_many(changes[:1000]) + [False] * len(changes[1000:])


@breaks("schedule.upsert-new")
class UpsertsAHundred:
    async def upsert_schedules(self, specs: Sequence[ScheduleSpec]) -> None:
        await super().upsert_schedules(specs[:100])


@breaks("schedule.due")
class FiresAHundred:
    async def due_schedules(self, **arguments: Any) -> list[ScheduleFire]:
        return await super().due_schedules(**{**arguments, "limit": min(arguments["limit"], 100)})


@breaks("schedule.due")
class FiresTwiceWhatIsNamedTwice:
    async def due_schedules(self, **arguments: Any) -> list[ScheduleFire]:
        ids = list(arguments["ids"])
        fires = await super().due_schedules(**arguments)
        return [fire for fire in fires for _ in range(ids.count(fire.schedule_id))][: arguments["limit"]]


@breaks("schedule.complete")
class StoresAHundredRuns:
    async def complete_fire(self, schedule_id: ScheduleId, *, runs: Sequence[NewJob], **arguments: Any) -> Any:
        return await super().complete_fire(schedule_id, runs=runs[:100], **arguments)


@breaks("transition.any-edge")
class TakesAnEndThatStandsForDone:
    async def transition(self, id: JobId, **arguments: Any) -> bool:
        details = await self.get_job(id)
        wanted = {status_of(arguments["from_"]), status_of(arguments["to"])}
        if details is not None and wanted == {details.summary.status} and details.summary.status in TERMINAL:
            return arguments.get("fence") in (None, details.fence)
        return await super().transition(id, **arguments)


@breaks("transition.times")
class KeepsTheFirstEnd(MemoryStore):
    def _move(self, row: JobRow, *arguments: Any, **more: Any) -> None:
        first = row.terminal_at
        super()._move(row, *arguments, **more)
        row.terminal_at = row.terminal_at and (first or row.terminal_at)


@breaks("transition.error")
class CutsMessagesAt255:
    async def transition(self, id: JobId, *, error: Any = None, **arguments: Any) -> bool:
        if error is not None and len(error.message) > 255:
            error = replace(error, message=f"{error.message[:254]}…")
        return await super().transition(id, error=error, **arguments)


@breaks("transition.error")
class KeepsTheOldTraceback(MemoryStore):
    def _move(self, row: JobRow, *arguments: Any, **more: Any) -> None:
        before = row.last_error
        super()._move(row, *arguments, **more)
        if before is not None and row.last_error is not None and not row.last_error.traceback:
            row.last_error = replace(row.last_error, traceback=before.traceback)


@breaks("operate.cancel")
class ForgetsWhyItWasCancelled(MemoryStore):
    async def cancel(self, id: JobId) -> bool:
        done = await super().cancel(id)
        if done:
            self._data.table.rows[id].last_error = None
        return done


@breaks("operate.requeue")
class ForgetsWhyItWasRequeued(MemoryStore):
    async def requeue(self, id: JobId) -> bool:
        done = await super().requeue(id)
        if done:
            self._data.table.rows[id].last_error = None
        return done


@breaks("enqueue.headers")
class GivesItsOwnHeadersAway(MemoryStore):
    def _take(self, row: JobRow, *arguments: Any) -> ClaimedJob:
        if not isinstance(row.new.headers, dict):
            row.new = replace(row.new, headers=dict(row.new.headers))
        return super()._take(row, *arguments)


@breaks("enqueue.unique")
class AddsHeadersToTheHolder(MemoryStore):
    async def enqueue(self, jobs: Sequence[NewJob]) -> list[EnqueueResult]:
        results = await super().enqueue(jobs)
        for job, result in zip(jobs, results, strict=True):
            row = self._data.table.rows[result.id]
            if not result.created:
                row.new = replace(row.new, headers={**row.new.headers, **job.headers})
        return results


def payloads(name: str, change: Callable[[str], str]) -> None:
    """Registers a store that changes payloads, where it can read them."""

    def changed(text: str) -> str:
        try:
            return change(text)
        except ValueError:
            return text

    async def enqueue(self: Any, jobs: Sequence[NewJob]) -> list[EnqueueResult]:
        return await super(fault, self).enqueue([replace(job, payload=changed(job.payload)) for job in jobs])

    fault = type(name, (), {"enqueue": enqueue})
    breaks("enqueue.text")(fault)


payloads(
    "ReadsLongNumbersAsDoubles",
    lambda text: json.dumps(json.loads(text, parse_int=float)) if "567890" in text else text,
)
payloads("WritesAsciiAlone", lambda text: text if text.isascii() else json.dumps(json.loads(text)))
payloads("KnowsNoNan", lambda text: text.replace("NaN", "null"))
payloads("KeepsTheLastOfTwoNames", lambda text: json.dumps(json.loads(text)) if '"twice"' in text else text)


@breaks("enqueue.text")
class KeepsVersionsIn16Bits:
    async def enqueue(self, jobs: Sequence[NewJob]) -> list[EnqueueResult]:
        return await super().enqueue([replace(job, payload_version=job.payload_version % 2**16) for job in jobs])


@breaks("enqueue.text")
class TakesNoVersionForTheFirst:
    async def enqueue(self, jobs: Sequence[NewJob]) -> list[EnqueueResult]:
        return await super().enqueue([replace(job, payload_version=job.payload_version or 1) for job in jobs])


@breaks("key.owner")
class ReleasesForTheHeadOfAToken(MemoryStore):
    async def release_key(self, scope: str, key: str, token: KeyToken) -> bool:
        record = self._data.records.get((scope, key))
        whole = record.token if record is not None and token and record.token.startswith(token) else token
        return await super().release_key(scope, key, whole)


@breaks("sweep.retention")
class SweepsPausesOfEmptyQueues:
    async def sweep(self, retention: RetentionPolicy, **arguments: Any) -> SweepReport:
        for depth in await self.queue_depths():
            if depth.paused is not None and not depth.due + depth.waiting + depth.running:
                await self.resume_queue(depth.queue)
        return await super().sweep(retention, **arguments)


@breaks("sweep.retention")
class SweepsSilentWorkers:
    async def sweep(self, retention: RetentionPolicy, **arguments: Any) -> SweepReport:
        for row in await self.workers():
            if not row.live:
                await self.retire(row.beat.id)
        return await super().sweep(retention, **arguments)


@breaks("fleet.beat")
class KeepsTheFirstBeat(MemoryStore):
    async def beat(self, worker: WorkerBeat, *, live_for: timedelta) -> None:
        known = self._data.workers.get(worker.id)
        await super().beat(worker if known is None else replace(known.beat, busy=worker.busy), live_for=live_for)


@breaks("fleet.beat")
class SortsWhatWorkersSay:
    async def beat(self, worker: WorkerBeat, *, live_for: timedelta) -> None:
        await super().beat(replace(worker, queues=tuple(sorted(worker.queues))), live_for=live_for)


@breaks("fleet.beat")
class NeverLivesForLess(MemoryStore):
    async def beat(self, worker: WorkerBeat, *, live_for: timedelta) -> None:
        known = self._data.workers.get(worker.id)
        await super().beat(worker, live_for=live_for)
        if known is not None:
            new = self._data.workers[worker.id]
            new.live_until = max(known.live_until, new.live_until)


@breaks("time.backwards")
class RevivesReleasedLeases(MemoryStore):
    async def release_lease(self, name: str, owner: str) -> bool:
        released = await super().release_lease(name, owner)
        if released:
            self._data.leases[name].until = self._data.clock()
        return released


@breaks("life.cancel")
class SwallowsCancellation:
    async def claim(self, **arguments: Any) -> list[ClaimedJob]:
        claim = asyncio.ensure_future(super().claim(**arguments))
        while not claim.done():
            try:
                await asyncio.shield(claim)
            except asyncio.CancelledError:
                if claim.cancelled():
                    raise
        return claim.result()


@breaks("life.loop")
class BlocksItsLoopWhileItWaits(MemoryStore):
    async def _settled(self, act: Callable[[datetime], Any]) -> Any:
        until = time.monotonic() + self._data.bound.total_seconds()
        while True:
            try:
                with self._statement() as now:
                    return act(now)
            except KeyReserved as error:
                if time.monotonic() > until:
                    raise busy(self._data) from error
            time.sleep(0.005)  # noqa: ASYNC251 - which is what is wrong with it


@breaks("life.open")
class EndsAllVerbsWhenItCloses(MemoryStore):
    async def _settled(self, act: Callable[[datetime], Any]) -> Any:
        self._data.reserved.setdefault("closing", asyncio.Event())  # type: ignore[arg-type]
        closing: Any = self._data.reserved["closing"]
        verb, closed = asyncio.ensure_future(super()._settled(act)), asyncio.ensure_future(closing.wait())
        await asyncio.wait([verb, closed], return_when=asyncio.FIRST_COMPLETED)
        if closed.done():
            verb.cancel()
            raise StoreError("closed")
        closed.cancel()
        return await verb

    async def close(self) -> None:
        await super().close()
        closing: Any = self._data.reserved.get("closing")
        if closing is not None:
            closing.set()


@breaks("key.owner")
class GivesNoTokenToEnqueueOnce(MemoryStore):
    async def enqueue_once(self, job: NewJob, *, scope: str, key: str, ttl: timedelta) -> JobId | None:
        made = await super().enqueue_once(job, scope=scope, key=key, ttl=ttl)
        if made is not None:
            self._data.records[scope, key].token = KeyToken("")
        return made


@breaks("key.atomic")
class EnqueuesOnceWithoutHeaders:
    async def enqueue_once(self, job: NewJob, **arguments: Any) -> JobId | None:
        return await super().enqueue_once(replace(job, headers={}), **arguments)


@breaks("schedule.complete")
class NamesItselfInItsRuns:
    async def complete_fire(self, schedule_id: ScheduleId, *, runs: Sequence[NewJob], **arguments: Any) -> Any:
        named = [replace(run, schedule_id=schedule_id) for run in runs]
        return await super().complete_fire(schedule_id, runs=named, **arguments)


@breaks("tx.atomic")
class LosesVersionsInTransactions:
    def enqueue_in_sync(self, tx: Any, jobs: Sequence[NewJob]) -> list[EnqueueResult]:
        return super().enqueue_in_sync(tx, [replace(job, payload_version=1) for job in jobs])


@breaks("fleet.pause")
class TakesNoReasonForNoPause:
    async def pause_queue(self, queue: str, reason: str) -> None:
        if reason:
            await super().pause_queue(queue, reason)


@breaks("fleet.pause")
class RequeuesIntoNoPausedQueue:
    async def requeue(self, id: JobId) -> bool:
        details = await self.get_job(id)
        if details is not None and details.summary.queue in await self.paused_queues():
            return False
        return await super().requeue(id)


@breaks("fleet.pause")
class FiresIntoNoPausedQueue:
    async def complete_fire(self, schedule_id: ScheduleId, *, runs: Sequence[NewJob], **arguments: Any) -> Any:
        if {run.queue for run in runs} & set(await self.paused_queues()):
            return None
        return await super().complete_fire(schedule_id, runs=runs, **arguments)


@breaks("operate.schedule")
class NeedsAReasonToPause:
    async def pause_schedule(self, id: ScheduleId, reason: str) -> bool:
        return bool(reason) and await super().pause_schedule(id, reason)


@breaks("transition.fence")
class TakesEndedLeasesForWaiting(MemoryStore):
    async def transition(self, id: JobId, **arguments: Any) -> bool:
        row = self._data.table.running(id)
        ended = row is not None and row.lease_until is not None and row.lease_until <= await self.now()
        return not (ended and arguments.get("fence") is None) and await super().transition(id, **arguments)


@breaks("claim.fence")
class CountsFencesInDoubles:
    async def claim(self, **arguments: Any) -> list[ClaimedJob]:
        return [replace(job, fence=Fence(float(job.fence))) for job in await super().claim(**arguments)]  # type: ignore[arg-type]


@breaks("query.details")
class ShowsStatusesAsText:
    async def get_job(self, id: JobId) -> Any:
        details = await super().get_job(id)
        return details and replace(details, summary=replace(details.summary, status=details.summary.status.value))
