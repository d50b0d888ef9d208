"""A handle: the part of the store that belongs to one event loop."""

import asyncio
import platform
from collections.abc import Callable, Generator
from contextlib import contextmanager
from datetime import datetime
from typing import Final, Self, TypeVar

from klokka.core.durations import spell
from klokka.core.instants import MICROSECOND, aware
from klokka.core.limits import Limits
from klokka.errors import Busy, MisuseError
from klokka.spi.life import Survives, Traits
from klokka.stores.memory.data import KeyReserved, MemoryData

LIMITS: Final = Limits()
R = TypeVar("R")


class Handle:
    """Opening, closing, and how a verb becomes one statement on the shared data."""

    def __init__(self, data: MemoryData) -> None:
        self._data = data
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def traits(self) -> Traits:
        return Traits(
            name="memory",
            version=platform.python_version(),
            resolution=MICROSECOND,
            bound=self._data.bound,
            survives=Survives.NOTHING,
            limits=LIMITS,
        )

    async def open(self) -> None:
        loop = asyncio.get_running_loop()
        if self._loop not in (None, loop):
            raise MisuseError("this handle was opened on another event loop. Open one from new_handle() here.")
        self._loop = loop

    async def close(self) -> None:
        self._loop = None

    def new_handle(self) -> Self:
        handle = object.__new__(type(self))
        Handle.__init__(handle, self._data)
        return handle

    async def now(self) -> datetime:
        with self._statement() as now:
            return now

    @contextmanager
    def _statement(self) -> Generator[datetime]:
        """Nobody else reads or writes meanwhile; the value is the store's now [time.store-clock]."""
        if self._loop is None:
            raise MisuseError("this handle of the memory store is not open. Call open() first.")
        if self._loop is not asyncio.get_running_loop():
            raise MisuseError("this handle was opened on another event loop. Open one from new_handle() here.")
        with self._data.lock:
            yield aware(self._data.clock(), "clock")

    async def _settled(self, act: Callable[[datetime], R]) -> R:
        """Runs `act` as one statement, once no key that it needs is reserved by an open transaction.

        `act` raises `KeyReserved` before it has changed anything [enqueue.unique-race].

        Raises:
            Busy: that lasted for longer than the bound [enqueue.bounded].
        """
        try:
            with self._statement() as now:
                return act(now)
        except KeyReserved:
            pass
        try:
            async with asyncio.timeout(self._data.bound.total_seconds()):
                with self._data.settled.heard_here() as settled:
                    while True:
                        settled.clear()
                        try:
                            with self._statement() as now:
                                return act(now)
                        except KeyReserved:
                            await settled.wait()
        except TimeoutError as error:
            raise busy(self._data) from error


def busy(data: MemoryData) -> Busy:
    """The error for a wait that is over; nothing was written."""
    return Busy(
        f"a transaction has held a unique key for longer than {spell(data.bound)}. Try again when it has ended."
    )
