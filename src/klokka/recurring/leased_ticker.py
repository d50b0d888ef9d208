"""Cron for any queue: every replica may tick, and only the holder of a lease enqueues."""

import asyncio
import copy
import logging
import secrets
from collections.abc import Awaitable, Callable, Container
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from types import TracebackType
from typing import Any, Final, Self, cast

from klokka.core.arguments import count, of_class
from klokka.core.clocks import Clock
from klokka.core.ids import Fence
from klokka.core.instants import FIRST, aware
from klokka.core.names import check_kind, check_name
from klokka.errors import InvalidInput, MisuseError, StoreError, UnknownOutcome
from klokka.recurring.entry import Entry, spelled
from klokka.recurring.once import WEEK, enqueue_once
from klokka.recurring.ports import Kinded, Queue, Request
from klokka.schedules.cron import cron as cron_schedule
from klokka.schedules.schedule import Schedule
from klokka.schedules.zones import load_zone
from klokka.spi.keys import IdempotencyStore, LeaseStore

logger = logging.getLogger("klokka.recurring")

Watch = Callable[[datetime], Awaitable[None]]
"""Called by the holder of the lease now and then, with the present."""

_MILLISECOND: Final = timedelta(milliseconds=1)


def _utc_now() -> datetime:
    return datetime.now(UTC)


class LeasedTicker:
    """Enqueues recurring jobs, each tick at most once for all replicas that share state and idempotency store.

    Ticks are computed by the clock of the replica that holds the lease. Each is claimed under (job type, instant)
    before it is enqueued, so that two tickers that overlap after a hand-over enqueue it once. Ticks missed while
    nobody ticked collapse into the latest. The first tick is the first after registration, whichever process of
    the same code goes on; a changed definition starts anew. Belongs to one event loop.
    """

    def __init__(
        self,
        queue: Queue[Request],
        state: LeaseStore,
        idempotency: IdempotencyStore,
        *,
        name: str = "recurring",
        zone: str = "UTC",
        tick_ms: int = 1000,
        lease_ms: int = 15_000,
        registry: Container[str] | None = None,
        watch: Watch | None = None,
        watch_ms: int = 60_000,
        clock: Clock = _utc_now,
    ) -> None:
        """Tickers of one `name` share a lease. `registry` has the kinds that are handled here, for a warning only.

        `watch` is called by whoever holds the lease, each `watch_ms` by `clock`.

        Raises:
            InvalidInput: or one of its kinds: a bad name or zone, or a time out of range.
        """
        load_zone(zone)
        if count("lease_ms", lease_ms) < 2 * count("tick_ms", tick_ms):
            raise InvalidInput(
                f"tick_ms {tick_ms} and lease_ms {lease_ms} do not fit. A lease lasts for two ticks or more, since each "
                "tick renews it."
            )
        self._queue = queue
        self._state = state
        self._idempotency = idempotency
        self._lease_name = check_name("name", name)
        self._zone = zone
        self._tick_every = tick_ms / 1000
        self._lease = lease_ms * _MILLISECOND
        self._registry = registry
        self._watch = watch
        self._watch_every = count("watch_ms", watch_ms) * _MILLISECOND
        self._watched_at: datetime | None = None
        self._clock = clock
        self._owner = secrets.token_hex(12)
        self._fence: Fence | None = None
        self._entries: dict[str, Entry] = {}
        self._warned: set[str] = set()
        self._one_at_a_time = asyncio.Lock()
        self._stopping = asyncio.Event()
        self._loop_task: asyncio.Task[None] | None = None

    def schedule_recurring(
        self,
        job_type: str | Kinded,
        cron: str | Schedule,
        *,
        args: Any = None,
        queue: str | None = None,
        priority: int | None = None,
        max_retries: int | None = None,
        zone: str | None = None,
    ) -> None:
        """Enqueues `job_type` at each tick of `cron` from now on; again for the same job type replaces it.

        `zone` falls back to the ticker's. A schedule made by a builder has a zone of its own.

        Raises:
            InvalidSchedule: malformed, never firing, or no such zone.
            InvalidInput: or one of its kinds: the queue cannot honour what is asked for.
        """
        kind = check_kind(getattr(job_type, "kind", cast("str", job_type)))
        of_class(f"the schedule of {kind}", cron, (str, Schedule), 'Give a cron text such as "0 9 * * *", or daily(…).')
        if isinstance(cron, str):
            cron = cron_schedule(cron, zone=self._zone if zone is None else zone)
        elif zone is not None:
            raise InvalidInput(f"the schedule of {kind} has the zone {cron.zone!r} already. Leave zone out.")
        request = Request(kind=kind, args=copy.deepcopy(args), queue=queue, priority=priority, max_retries=max_retries)
        self._queue.admit(request)
        entry = Entry(schedule=cron, request=request, registered_at=aware(self._clock(), "clock"))
        known = self._entries.get(kind)
        if known is None or known.definition != entry.definition:
            self._entries[kind] = entry

    async def tick(self, now: datetime | None = None) -> list[str]:
        """One pass: gives the job types that it enqueued, none without the lease. A failing one stops no other.

        Raises:
            StoreError: the lease could not be asked for.
        """
        async with self._one_at_a_time:
            at = aware(self._clock() if now is None else now, "now")
            fence = await self._state.acquire_lease(self._lease_name, self._owner, self._lease)
            if fence != self._fence:  # others may have moved the cursors meanwhile
                self._fence = fence
                for entry in self._entries.values():
                    entry.last = None
            if fence is None:
                return []
            enqueued = [entry.kind for entry in list(self._entries.values()) if await self._survives(entry, at, fence)]
            await self._look(at)
            return enqueued

    async def start(self) -> None:
        """Ticks every `tick_ms` until stopped; returns at once. Failures are logged, and it goes on.

        Raises:
            MisuseError: it runs already.
        """
        if self._loop_task is not None:
            raise MisuseError("this ticker runs already. Stop it before it is started again.")
        self._stopping.clear()
        self._loop_task = asyncio.create_task(self._run(), name=f"klokka-{self._lease_name}")

    async def stop(self) -> None:
        """Lets the pass under way end, and hands the lease to the next ticker at once. Idempotent."""
        self._stopping.set()
        running, self._loop_task = self._loop_task, None
        if running is not None:
            await running
        if self._fence is not None:
            self._fence = None
            with suppress(StoreError):  # then it ends by itself
                await self._state.release_lease(self._lease_name, self._owner)

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.stop()

    async def _run(self) -> None:
        failing = False
        while not self._stopping.is_set():
            try:
                await self.tick()
            except Exception:
                if not failing:
                    logger.exception("the ticker %s fails; it goes on trying", self._lease_name)
                failing = True
            else:
                failing = False
            with suppress(TimeoutError):
                async with asyncio.timeout(self._tick_every):
                    await self._stopping.wait()

    # One job type

    async def _survives(self, entry: Entry, now: datetime, fence: Fence) -> bool:
        """Whether the job was enqueued; whatever goes wrong concerns it alone."""
        self._warn(entry.kind)
        try:
            fired = await self._fire(entry, now, fence)
        except Exception as error:
            if entry.trouble != (trouble := f"{type(error).__name__}: {error}"):
                entry.trouble = trouble
                logger.exception("a tick of %s could not be enqueued; each pass tries again", entry.kind)
            return False
        entry.trouble = ""
        return fired

    async def _fire(self, entry: Entry, now: datetime, fence: Fence) -> bool:
        if entry.last is None:
            entry.last = await self._last(entry, fence)
        tick = entry.latest(now)
        if entry.last is None or tick is None or tick <= entry.last:
            return False
        try:
            job = await enqueue_once(
                self._queue,
                self._idempotency,
                entry.of(tick),
                spelled(tick),
                WEEK,
                scope=f"{self._lease_name}:{entry.kind}",
            )
        except UnknownOutcome as error:
            # The next pass finds out: where the claim stands, nobody enqueues it again.
            logger.warning("it is not known whether the tick %s of %s was enqueued: %s", tick, entry.kind, error)
            return False
        entry.last = tick
        await self._advance(entry, tick, fence)
        return job is not None

    async def _last(self, entry: Entry, fence: Fence) -> datetime | None:
        """The latest tick decided; None: the lease is lost.

        A definition that is new, or that another one has replaced since it decided last, starts at its registration
        and after whatever the other one decided.
        """
        any_last = await self._state.read_cursor(self._cursor(entry.kind)) or FIRST
        own_last = await self._state.read_cursor(self._cursor(f"{entry.kind}:{entry.definition}"))
        if own_last is not None and own_last >= any_last:
            return own_last
        start = max(entry.registered_at, any_last)
        return start if await self._advance(entry, start, fence) else None

    async def _advance(self, entry: Entry, to: datetime, fence: Fence) -> bool:
        """Moves the cursor of the definition, and then that of the job type, which says that no other came later."""
        moved = await self._move(f"{entry.kind}:{entry.definition}", to, fence)
        await self._move(entry.kind, to, fence)
        return moved

    async def _move(self, of: str, to: datetime, fence: Fence) -> bool:
        return await self._state.advance_cursor(self._cursor(of), to, lease=self._lease_name, fence=fence)

    def _cursor(self, of: str) -> str:
        return f"{self._lease_name}:{of}"

    # Beside

    def _warn(self, kind: str) -> None:
        if self._registry is not None and kind not in self._registry and kind not in self._warned:
            self._warned.add(kind)
            logger.warning("%s recurs and has no handler here. That is right if another process handles it.", kind)

    async def _look(self, now: datetime) -> None:
        if self._watch is None:
            return
        if self._watched_at is not None and abs(now - self._watched_at) < self._watch_every:
            return  # absolute, since a clock may step back
        self._watched_at = now
        try:
            await self._watch(now)
        except Exception:
            logger.exception("the watch of the ticker %s failed", self._lease_name)
