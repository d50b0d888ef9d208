"""What can be found out about a store from here."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from klokka.cli.findings import of_clock, of_error, of_queues, of_schedules, of_schema
from klokka.core.states import JobStatus
from klokka.errors import KlokkaError, StoreReadOnly
from klokka.spi.batch import BatchingStore
from klokka.spi.diagnosis import DiagnosableStore, Finding
from klokka.spi.fleet import FleetStore
from klokka.spi.keys import EnqueueOnceStore, IdempotencyStore, LeaseStore
from klokka.spi.life import MigratableStore, Migrations, Traits
from klokka.spi.operate import OperableStore, ProgressStore
from klokka.spi.query import QueryableStore
from klokka.spi.store import JobStore
from klokka.spi.transactions import SyncTransactionalStore, TransactionalStore
from klokka.spi.wakeups import PushCapableStore

CAPABILITIES: Final[dict[str, type[Any]]] = {
    "batch": BatchingStore,
    "diagnosis": DiagnosableStore,
    "enqueue_once": EnqueueOnceStore,
    "fleet": FleetStore,
    "idempotency": IdempotencyStore,
    "leases": LeaseStore,
    "migrations": MigratableStore,
    "operate": OperableStore,
    "progress": ProgressStore,
    "query": QueryableStore,
    "sync_transactions": SyncTransactionalStore,
    "transactions": TransactionalStore,
    "wakeups": PushCapableStore,
}
_PROBE: Final = "klokka.doctor"
_PATIENCE: Final = 5.0
_NO_WAKEUP: Final = Finding(
    problem=f"no wakeup came within {_PATIENCE:g} seconds.",
    advice="Jobs still run, since workers also look by themselves, but up to seconds later.",
)


@dataclass(slots=True, kw_only=True)
class Diagnosis:
    """What was found out. None stands where it could not be."""

    source: str
    store: Traits
    capabilities: dict[str, bool]
    facts: dict[str, str] | None = None
    """What the store tells of itself."""
    schema: Migrations | None = None
    clock_ahead: timedelta | None = None
    """How far the store's clock is ahead of this host's."""
    wakeup: timedelta | None = None
    """From a change that owes a wakeup to its arrival at another handle."""
    jobs: dict[JobStatus, int] | None = None
    live_workers: int | None = None
    paused_queues: dict[str, str] | None = None
    findings: list[Finding] = field(default_factory=list[Finding])


async def diagnose(store: JobStore, source: str) -> Diagnosis:
    """Looks at all that the store shows. What the store cannot do is a finding and no error.

    The schema is left as it is. To measure a wakeup, a queue of the doctor's own is paused and resumed.
    """
    found = Diagnosis(
        source=source,
        store=store.traits,
        capabilities={name: isinstance(store, capability) for name, capability in CAPABILITIES.items()},
    )
    try:
        if isinstance(store, DiagnosableStore):
            report = await store.diagnose()
            found.facts = dict(report.facts)
            found.findings += report.findings
        usable = True
        if isinstance(store, MigratableStore):
            # Before opening, since that may migrate.
            found.schema = await store.schema()
            usable = found.schema.current == found.schema.latest
            found.findings += of_schema(found.schema)
        if usable:
            await store.open()
            await _examine(store, found)
    except KlokkaError as error:
        found.findings.append(of_error(error))
    return found


async def _examine(store: JobStore, found: Diagnosis) -> None:
    """Asks all questions at once, since each may wait as long as the store's bound, and measures afterwards."""
    questions = [_jobs(store, found)] if isinstance(store, QueryableStore) else []
    if isinstance(store, FleetStore):
        questions.append(_fleet(store, found))
        if isinstance(store, QueryableStore):
            questions += [_listed(of_queues(store)), _listed(of_schedules(store))]
    measures = [_clock(store, found)]
    if isinstance(store, FleetStore) and isinstance(store, PushCapableStore):
        measures.append(_wakeups(store, found))
    answers = await asyncio.gather(*map(_alone, questions))
    answers += [await _alone(measure) for measure in measures]
    found.findings += dict.fromkeys(finding for answer in answers for finding in answer)


async def _alone(question: Awaitable[Sequence[Finding]]) -> Sequence[Finding]:
    """What a question found. One that fails is a finding itself, and keeps no other from its answer."""
    try:
        return await question
    except KlokkaError as error:
        return [of_error(error)]


async def _listed(findings: AsyncIterator[Finding]) -> Sequence[Finding]:
    return [finding async for finding in findings]


async def _jobs(store: QueryableStore, found: Diagnosis) -> Sequence[Finding]:
    found.jobs = dict(await store.counts_by_status())
    return []


async def _fleet(store: FleetStore, found: Diagnosis) -> Sequence[Finding]:
    found.live_workers = sum(worker.live for worker in await store.workers())
    found.paused_queues = dict(await store.paused_queues())
    return []


async def _clock(store: JobStore, found: Diagnosis) -> Sequence[Finding]:
    found.clock_ahead = await _clock_ahead(store)
    return list(of_clock(found.clock_ahead))


async def _wakeups(store: JobStore, found: Diagnosis) -> Sequence[Finding]:
    try:
        found.wakeup = await _wakeup(store)
    except StoreReadOnly:
        if found.facts is None:
            raise
        # Such a store has said itself what this user may do.
        found.facts["wakeups"] = "not measured: it needs the operator's right"
        return []
    return [] if found.wakeup is not None else [_NO_WAKEUP]


async def _clock_ahead(store: JobStore) -> timedelta:
    """Against the middle of the round trip, so that a slow answer is not taken for a wrong clock."""
    before = datetime.now(UTC)
    now = await store.now()
    return now - (before + (datetime.now(UTC) - before) / 2)


async def _wakeup(store: Any) -> timedelta | None:
    """Resuming a queue owes a wakeup [fleet.pause], and costs less than a job of our own."""
    other = store.new_handle()
    await other.open()
    try:
        async with aclosing(other.wakeups()) as hints, asyncio.timeout(_PATIENCE):
            await anext(hints)  # the subscription is in place [wakeups.first]
            try:
                await store.pause_queue(_PROBE, "measures a wakeup")
                began = time.perf_counter()
                await store.resume_queue(_PROBE)
                await anext(hints)
                return timedelta(seconds=time.perf_counter() - began)
            finally:
                await store.resume_queue(_PROBE)  # a pause that was cut off may stand
    except TimeoutError:
        return None
    finally:
        await other.close()
