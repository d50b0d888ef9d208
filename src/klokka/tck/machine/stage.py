"""Where a script is played: fresh data, a few handles, the model beside them, and what has been said so far."""

import asyncio
import math
import threading
import time
from collections.abc import Coroutine, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final, TypeVar, cast

from klokka.core.ids import JobId
from klokka.errors import KlokkaError
from klokka.spi.query import QueryableStore
from klokka.spi.store import JobStore
from klokka.spi.wakeups import PushCapableStore
from klokka.tck.bench import Bench
from klokka.tck.model import views
from klokka.tck.model.crew import Crew
from klokka.tck.model.names import Names
from klokka.tck.model.timetable import Timetable
from klokka.tck.model.work import Work
from klokka.tck.violations import Violation
from klokka.tck.words import call, words

R = TypeVar("R")

_HANDLES: Final = 3


class Enough(KeyboardInterrupt):
    """Ends a hunt that has no more to spend; nothing that looks for errors takes this for one."""


@dataclass(slots=True)
class Hunt:
    """What all plays of one check share: the runner's loop, what they may spend, and the shortest failure."""

    bench: Bench
    loop: asyncio.AbstractEventLoop
    shrinks: int
    """Plays in which a failure is made shorter."""
    within: float
    """Seconds for the plays, and as many for making a failure shorter."""
    plays: int = 0
    last: float = math.inf
    """The play behind which nothing more is tried."""
    cut: bool = False
    """Whether time ended it, and not the number of plays."""
    stopped: threading.Event = field(default_factory=threading.Event)
    script: Sequence[str] | None = None
    violation: Violation | None = None
    _since: float = field(default_factory=time.monotonic)

    def begin_play(self) -> None:
        """Counts one more play.

        Raises:
            Enough: there is none to spend.
        """
        self.check_time()
        if self.plays >= self.last:
            raise Enough
        self.plays += 1

    def check_time(self) -> None:
        """Raises `Enough` if time is over."""
        self.cut = self.cut or time.monotonic() - self._since > self.within
        if self.cut or self.stopped.is_set():
            raise Enough

    def found(self, script: list[str], violation: Violation) -> None:
        """Keeps a failure if it is the shortest so far. From the first one on there is something to spend on that."""
        if self.script is None:
            self.last = self.plays + self.shrinks
            self._since = time.monotonic()
        if self.script is None or len(script) < len(self.script):
            violation.story = list(script)
            self.script, self.violation = violation.story, violation


class Stage:
    """One play, driven from a thread while the store lives on the runner's loop."""

    def __init__(self, hunt: Hunt) -> None:
        self._hunt = hunt
        self._curtain = asyncio.Event()
        self.script: list[str] = []
        self.work = Work()
        self.timetable = Timetable(self.work)
        self.names = Names(self.work)
        self.crew = Crew()
        hunt.begin_play()
        raised: asyncio.Future[Bench] = self._wait(self._raise_curtain())
        self.bench = self._wait(_result(raised))
        self.handles: list[JobStore] = [self.bench.store]
        self.now: datetime = self._clock()
        self.hints = asyncio.Event()
        self._listening: asyncio.Task[None] | None = None

    def close(self) -> None:
        """Ends the play and removes its data."""
        with suppress(Exception):
            self._wait(self._drop_curtain())

    def ask(self, handle: int, verb: str, **arguments: Any) -> Any:
        """What a verb of some handle answers, which is also said in the script; a refusal is an answer too.

        Raises:
            Violation: the verb raised what no store may raise.
        """
        self._hunt.check_time()
        store = self.handles[handle % len(self.handles)]
        self.script.append(f"{call(verb, arguments)} on handle {self.handles.index(store) + 1}")
        answer: Any
        try:
            answer = self._wait(getattr(store, verb)(**arguments))
        except KlokkaError as error:
            answer = error
        except Exception as error:
            raise Violation(
                f"{verb} raised", seen=f"{type(error).__name__}: {error}", expected="a result", clauses=("life.errors",)
            ) from error
        self.script[-1] += f" → {words(answer)}"
        return answer

    def answer(self, handle: int, verb: str, **arguments: Any) -> Any:
        """The same for a verb that has nothing to refuse."""
        answer = self.ask(handle, verb, **arguments)
        if isinstance(answer, KlokkaError):
            raise Violation(f"{verb} raised", seen=words(answer), expected="a result", clauses=("life.errors",))
        return answer

    def look(self, ids: Iterable[JobId]) -> None:
        """These jobs are stored as the model has them, where that can be seen."""
        if isinstance(self.bench.store, QueryableStore):
            for id_ in ids:
                views.details(self.work, self.now, self._wait(self.handles[-1].get_job(id_)), id_)  # type: ignore[attr-defined]

    def pass_time(self, by: timedelta) -> None:
        """Moves the store's clock, and the model's with it."""
        self.bench.move_clock(by)
        self.now = self._clock()
        self.script.append(f"time passes: {words(by)}, it is {words(self.now)}")

    def open_handle(self) -> None:
        """One more handle, as long as there are few."""
        if len(self.handles) < _HANDLES:
            self.handles.append(self._wait(self.bench.handle()))
            self.script.append(f"handle {len(self.handles)} opens")

    def crash(self, handle: int) -> None:
        """A handle ends with all that it holds unfinished; another one comes in its place."""
        index = handle % len(self.handles)
        self._wait(self.handles[index].close())
        self.handles[index] = self._wait(self.bench.handle())
        self.script.append(f"handle {index + 1} ends, whatever it held, and opens anew")

    def listen(self) -> None:
        """Subscribes to wakeups, if nobody has yet and the store has any [wakeups.first]."""
        if self._listening is None and isinstance(self.bench.store, PushCapableStore):
            self._listening = self._wait(self._subscribed())
            self.script.append("somebody listens to wakeups")
            self.expect_hint("wakeups.first", "a subscription gives one hint once it is in place")

    def drop_hints(self) -> None:
        """Ends the subscription; from here on work must be found without hints."""
        if self._listening is not None:
            self._wait(_ended(self._listening))
            self._listening = None
            self.script.append("nobody listens to wakeups any more")

    def forget_hints(self) -> None:
        """What was heard so far does not count for what comes."""
        self._hunt.loop.call_soon_threadsafe(self.hints.clear)

    def expect_hint(self, clause: str, why: str) -> None:
        """One hint was given or comes soon, if somebody listens."""
        if self._listening is None:
            return
        try:
            self._wait(asyncio.wait_for(self.hints.wait(), self.bench.subject.patience.total_seconds()))
        except TimeoutError:
            raise Violation(why, seen="no hint", expected="a hint", clauses=(clause,)) from None

    def _clock(self) -> datetime:
        return self.bench.cut(self._wait(self.handles[0].now()))

    def _wait(self, work: Coroutine[Any, Any, R]) -> R:
        return asyncio.run_coroutine_threadsafe(work, self._hunt.loop).result()

    async def _raise_curtain(self) -> "asyncio.Future[Bench]":
        """The future of a bench that stays until the curtain falls; one task enters and leaves its factory."""
        ready: asyncio.Future[Bench] = asyncio.get_running_loop().create_future()

        async def live() -> None:
            try:
                async with self._hunt.bench.fresh(0) as bench:
                    ready.set_result(bench)
                    await self._curtain.wait()
            except Exception as error:
                if not ready.done():
                    ready.set_exception(error)
                else:
                    raise

        self._life = asyncio.create_task(live())
        return ready

    async def _drop_curtain(self) -> None:
        if self._listening is not None:
            await _ended(self._listening)
        self._curtain.set()
        await self._life

    async def _subscribed(self) -> "asyncio.Task[None]":
        listener = await self.bench.handle()  # of its own, since the others come and go
        hints = cast(PushCapableStore, listener).wakeups()
        self.hints.clear()

        async def hear() -> None:
            try:
                async for _ in hints:
                    self.hints.set()
            finally:
                await hints.aclose()

        return asyncio.create_task(hear())


async def _result(future: "asyncio.Future[R]") -> R:
    return await future


async def _ended(task: "asyncio.Task[None]") -> None:
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
