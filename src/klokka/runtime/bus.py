"""Events to listeners, at no cost where nobody listens and without ever holding up a job."""

import asyncio
import inspect
import logging
import queue
import threading
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, Final, TypeVar

logger = logging.getLogger("klokka.events")

E = TypeVar("E")
Listener = Callable[[Any], Awaitable[None] | None]

_IDLE: Final = 5.0
_SAY_EVERY: Final = 10.0


class EventBus:
    """Brings events to listeners: sync ones on a thread of their own, async ones as tasks on the loop.

    Listeners see events in the order told, each alone and after its effect is stored. At most `limit` events wait
    for each of the two sorts; beyond that they are dropped, counted, and the log says so now and then. A listener
    that raises is logged and keeps listening. Every method may be called on any thread.
    """

    def __init__(self, *, limit: int = 10_000) -> None:
        self._limit = limit
        self._listeners: list[tuple[Any, Listener]] = []
        self._for: dict[type, tuple[tuple[Listener, ...], tuple[Listener, ...]]] = {}
        self._waiting: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._dispatching = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._tasks: set[asyncio.Future[None]] = set()
        self._dropped = 0
        self._said = float("-inf")

    def on(self, event_type: type[E], listener: Callable[[E], Any]) -> None:
        """Tells `listener` of every event of this class, or of a class below it, from now on."""
        self._listeners.append((event_type, listener))
        self._for = {}

    @property
    def listened(self) -> bool:
        """Whether anybody listens to anything."""
        return bool(self._listeners)

    def wants(self, event_type: type) -> bool:
        """Whether somebody listens to such events; ask before making one."""
        if not self._listeners:
            return False
        known = self._for.get(event_type)
        if known is None:
            known = self._sorted(event_type)
        return bool(known[0] or known[1])

    def tell(self, event: object) -> None:
        """Hands `event` to its listeners and returns at once."""
        plain, awaited = self._for.get(type(event)) or self._sorted(type(event))
        for listener in plain:
            self._queue(listener, event)
        if awaited:
            self._start(awaited, event)

    def bind(self, loop: asyncio.AbstractEventLoop) -> None:
        """Gives async listeners their loop; without it the first loop on which an event is told is theirs."""
        self._loop = loop

    async def flush(self, within: float) -> None:
        """Returns when what was told before has been heard, or after `within` seconds."""
        loop = asyncio.get_running_loop()
        until = loop.time() + within
        heard: asyncio.Future[None] = loop.create_future()
        if self._dispatching:
            self._put(lambda: _resolve_soon(heard, loop))
            await asyncio.wait([heard], timeout=within)
        mine = [task for task in self._tasks if task.get_loop() is loop]
        if mine:
            await asyncio.wait(mine, timeout=max(0.0, until - loop.time()))

    def _sorted(self, event_type: type) -> tuple[tuple[Listener, ...], tuple[Listener, ...]]:
        plain: list[Listener] = []
        awaited: list[Listener] = []
        for wanted, listener in self._listeners:
            if issubclass(event_type, wanted):
                (awaited if _is_async(listener) else plain).append(listener)
        self._for[event_type] = known = (tuple(plain), tuple(awaited))
        return known

    # Sync listeners

    def _queue(self, listener: Listener, event: Any) -> None:
        if self._waiting.qsize() >= self._limit:
            self._drop()
        else:
            self._put(lambda: _hear(listener, event))

    def _put(self, work: Callable[[], None]) -> None:
        self._waiting.put(work)
        with self._lock:
            if not self._dispatching:
                self._dispatching = True
                threading.Thread(target=self._dispatch, name="klokka-events", daemon=True).start()

    def _dispatch(self) -> None:
        while True:
            try:
                work = self._waiting.get(timeout=_IDLE)
            except queue.Empty:
                with self._lock:  # whoever puts under this lock sees either a live thread or none
                    if self._waiting.empty():
                        self._dispatching = False
                        return
            else:
                work()

    # Async listeners

    def _start(self, listeners: tuple[Listener, ...], event: Any) -> None:
        here = _running_loop()
        if self._loop is None or (here is not None and self._loop.is_closed()):
            self._loop = here
        for listener in listeners:
            if self._loop is None or len(self._tasks) >= self._limit:
                self._drop()
            elif here is self._loop:
                self._spawn(listener, event)
            else:
                try:
                    self._loop.call_soon_threadsafe(self._spawn, listener, event)
                except RuntimeError:  # that loop was closed
                    self._drop()

    def _spawn(self, listener: Listener, event: Any) -> None:
        task = asyncio.ensure_future(_hear_async(listener, event))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _drop(self) -> None:
        self._dropped += 1
        now = time.monotonic()
        if now - self._said >= _SAY_EVERY:
            self._said = now
            logger.warning(
                "listeners are too slow: %d events were dropped so far. No job is affected; make listeners faster.",
                self._dropped,
            )


def _hear(listener: Listener, event: Any) -> None:
    try:
        listener(event)
    except BaseException:  # its SystemExit would end the thread, and with it all listening
        logger.exception("listener %r failed on %s", listener, type(event).__name__)


async def _hear_async(listener: Listener, event: Any) -> None:
    try:
        heard = listener(event)
        if heard is not None:
            await heard
    except (Exception, SystemExit, KeyboardInterrupt):  # the last two would end the loop, and with it the worker
        logger.exception("listener %r failed on %s", listener, type(event).__name__)


def _is_async(listener: Any) -> bool:
    return inspect.iscoroutinefunction(listener) or inspect.iscoroutinefunction(type(listener).__call__)


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def _resolve_soon(future: asyncio.Future[None], loop: asyncio.AbstractEventLoop) -> None:
    def resolve() -> None:
        if not future.done():
            future.set_result(None)

    with suppress(RuntimeError):  # the loop was closed meanwhile
        loop.call_soon_threadsafe(resolve)
