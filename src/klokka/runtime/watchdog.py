"""Notices that the handlers' loop stands still, and who holds it up."""

import asyncio
import logging
import sys
import time
import traceback
from collections.abc import Callable
from datetime import timedelta

from klokka.core.durations import spell
from klokka.core.events import LoopBlocked
from klokka.runtime.bus import EventBus

logger = logging.getLogger("klokka.watchdog")


class Watchdog:
    """Asks the loop for a sign of life from another thread, and says so when none comes.

    Once for each standstill, again whenever its length has doubled, and once when it is over. Where the loop has ended
    for good it calls `gone`.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        *,
        thread: int,
        bus: EventBus,
        blocked_after: timedelta,
        gone: Callable[[], None],
    ) -> None:
        self._loop = loop
        self._thread = thread
        self._bus = bus
        self._limit = blocked_after.total_seconds()
        self._gone = gone
        self._asked: float | None = None
        self._say_at = self._limit
        self._stack = ""

    @property
    def blocked(self) -> bool:
        """Whether the loop has given no sign of life for longer than the limit."""
        asked = self._asked
        return asked is not None and time.monotonic() - asked > self._limit

    async def run(self) -> None:
        """Watches until cancelled, or until the loop has ended."""
        while self._look():  # noqa: ASYNC110  # what it looks at is on another loop
            await asyncio.sleep(min(0.5, self._limit / 4))
        self._gone()

    def _look(self) -> bool:
        """One look; gives whether the loop is there to be looked at again."""
        if self._asked is None:
            self._asked = time.monotonic()
            try:
                self._loop.call_soon_threadsafe(self._answer)
            except RuntimeError:  # it is closed
                return False
            return True
        blocked = time.monotonic() - self._asked
        if blocked >= self._say_at:
            if not self._loop.is_running():
                return False
            self._say_at = blocked * 2
            self._say(blocked)
        return True

    def _say(self, blocked: float) -> None:
        frame = sys._current_frames().get(self._thread)  # noqa: SLF001  # the one way to another thread's stack
        self._stack = "".join(traceback.format_stack(frame)) if frame is not None else ""
        logger.warning(
            "a handler has blocked the event loop for %s, and nothing else runs there. Make it sync, or await "
            "what takes long. It stands here:\n%s",
            spell(timedelta(seconds=blocked)),
            self._stack,
        )
        self._tell(blocked)

    def _answer(self) -> None:
        """Runs on the loop."""
        asked, self._asked = self._asked, None
        if self._say_at > self._limit and asked is not None:
            blocked = time.monotonic() - asked
            self._say_at = self._limit
            logger.warning("the event loop runs again after %s", spell(timedelta(seconds=blocked)))
            self._tell(blocked)

    def _tell(self, blocked: float) -> None:
        if self._bus.wants(LoopBlocked):
            self._bus.tell(LoopBlocked(blocked=timedelta(seconds=blocked), stack=self._stack))
