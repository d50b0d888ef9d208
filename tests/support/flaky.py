"""A store that can be taken away and given back, verb by verb, on all of its handles at once."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Self, TypeVar

from klokka.core.clocks import Clock
from klokka.core.ids import Fence, JobId, ScheduleId, WorkerId
from klokka.core.records import Change, ClaimedJob, EnqueueResult, RetentionPolicy, SweepReport
from klokka.core.schedule_records import ScheduleFire, ScheduleSpec
from klokka.core.worker_records import WorkerBeat
from klokka.errors import StoreUnavailable, UnknownOutcome
from klokka.stores.memory.store import MemoryStore

R = TypeVar("R")


class Weather:
    """What happens to the verbs of a `FlakyStore`, and how often each was called."""

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()
        self._down: set[str] = set()
        self._errors: dict[str, list[Exception]] = {}
        self._vanishing: Counter[str] = Counter()
        self._gates: dict[str, Gate] = {}

    def take_away(self, *verbs: str) -> None:
        """The verbs, or all of them, answer that the store is unavailable, until `give_back`."""
        self._down |= set(verbs or ("*",))

    def give_back(self) -> None:
        """Everything answers again."""
        self._down.clear()

    def fail(self, verb: str, *errors: Exception) -> None:
        """The next calls of the verb raise these, one each, and do nothing."""
        self._errors.setdefault(verb, []).extend(errors)

    def lose_answer(self, verb: str, times: int = 1) -> None:
        """The next calls of the verb take effect, and their answer is lost."""
        self._vanishing[verb] += times

    def hold(self, verb: str, *, after: bool = False) -> "Gate":
        """Calls of the verb wait at a gate: before they do anything, or before they answer."""
        self._gates[verb] = gate = Gate(after=after)
        return gate

    async def around(self, verb: str, call: Callable[[], Awaitable[R]]) -> R:
        """Lets one call through, or not."""
        self.calls[verb] += 1
        gate = self._gates.get(verb)
        if gate is not None and not gate.after:
            await gate.pass_through()
        if self._down & {verb, "*"}:
            raise StoreUnavailable("the store was taken away")
        if errors := self._errors.get(verb):
            raise errors.pop(0)
        result = await call()
        if gate is not None and gate.after:
            await gate.pass_through()
        if self._vanishing[verb]:
            self._vanishing[verb] -= 1
            raise UnknownOutcome("the connection broke before the answer")
        return result


class Gate:
    """Holds calls until it is opened. Belongs to the test's loop."""

    def __init__(self, *, after: bool) -> None:
        self.after = after
        self.reached = asyncio.Event()
        self._open = asyncio.Event()

    def open(self) -> None:
        """Lets all pass, now and later."""
        self._open.set()

    async def pass_through(self) -> None:
        """Waits for `open`, and says that somebody waits."""
        self.reached.set()
        await self._open.wait()


class FlakyStore(MemoryStore):
    """A memory store in a `Weather` that all of its handles share."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.weather = Weather()

    def new_handle(self) -> Self:
        handle = super().new_handle()
        handle.weather = self.weather
        return handle

    async def open(self) -> None:
        await self.weather.around("open", super().open)

    async def now(self) -> datetime:
        return await self.weather.around("now", super().now)

    async def claim(self, **arguments: Any) -> list[ClaimedJob]:
        claim = super().claim
        return await self.weather.around("claim", lambda: claim(**arguments))

    async def next_due(self, *, queues: Sequence[str], kinds: Collection[str]) -> datetime | None:
        next_due = super().next_due
        return await self.weather.around("next_due", lambda: next_due(queues=queues, kinds=kinds))

    async def heartbeat(self, held: Mapping[JobId, Fence], *, worker: WorkerId, extend: timedelta) -> set[JobId]:
        heartbeat = super().heartbeat
        return await self.weather.around("heartbeat", lambda: heartbeat(held, worker=worker, extend=extend))

    async def transition(self, id: JobId, **arguments: Any) -> bool:
        transition = super().transition
        return await self.weather.around("transition", lambda: transition(id, **arguments))

    async def transition_many(self, changes: Sequence[Change]) -> list[bool]:
        transition_many = super().transition_many
        return await self.weather.around("transition_many", lambda: transition_many(changes))

    async def sweep(self, retention: RetentionPolicy, *, limit: int = 1000) -> SweepReport:
        sweep = super().sweep
        return await self.weather.around("sweep", lambda: sweep(retention, limit=limit))

    async def upsert_schedules(self, specs: Sequence[ScheduleSpec]) -> None:
        upsert_schedules = super().upsert_schedules
        await self.weather.around("upsert_schedules", lambda: upsert_schedules(specs))

    async def due_schedules(self, **arguments: Any) -> list[ScheduleFire]:
        due_schedules = super().due_schedules
        return await self.weather.around("due_schedules", lambda: due_schedules(**arguments))

    async def complete_fire(self, schedule_id: ScheduleId, **arguments: Any) -> list[EnqueueResult] | None:
        complete_fire = super().complete_fire
        return await self.weather.around("complete_fire", lambda: complete_fire(schedule_id, **arguments))

    async def beat(self, worker: WorkerBeat, *, live_for: timedelta) -> None:
        beat = super().beat
        await self.weather.around("beat", lambda: beat(worker, live_for=live_for))

    async def retire(self, worker: WorkerId) -> None:
        retire = super().retire
        await self.weather.around("retire", lambda: retire(worker))


async def opened(*, clock: Clock | None = None) -> FlakyStore:
    """A fresh one, open on the running loop."""
    store = FlakyStore() if clock is None else FlakyStore(clock=clock)
    await store.open()
    return store
