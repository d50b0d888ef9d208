"""A thread with a connection of its own, and the way of a verb into it and of its answer back to the event loop."""

import asyncio
import contextlib
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue
from typing import Any, Final, Protocol, TypeVar

from klokka.errors import UnknownOutcome
from klokka.stores.sqlite.transaction import Transaction

T = TypeVar("T")

_GROUP: Final = 64
_LOOK: Final = 1.0


class Call:
    """A verb on its way, with the future that waits for it."""

    __slots__ = ("error", "future", "since", "value", "verb")

    def __init__(self, verb: Callable[[Transaction], Any], future: "asyncio.Future[Any]") -> None:
        self.verb = verb
        self.future = future
        self.since = time.monotonic()
        self.value: Any = None
        self.error: BaseException | None = None

    def settle(self) -> None:
        """Gives the answer to whoever still waits; on the loop's thread."""
        if self.future.cancelled():
            return
        if self.error is None:
            self.future.set_result(self.value)
        else:
            self.future.set_exception(self.error)


class Performer(Protocol):
    """What a lane does with its connection. Failures of verbs go into `Call.error`."""

    def connect(self) -> sqlite3.Connection: ...

    def perform(self, connection: sqlite3.Connection, calls: Sequence[Call]) -> None: ...

    def disconnect(self, connection: sqlite3.Connection) -> None: ...


class Lane:
    """Runs verbs one after the other, off the event loop, in the order in which they came.

    What gathered while the last verbs ran is performed together, so that eight callers share one commit.
    """

    def __init__(self, performer: Performer, name: str) -> None:
        self._performer = performer
        self._loop = asyncio.get_running_loop()
        self._queue: SimpleQueue[Call | None] = SimpleQueue()
        self._ended = self._loop.create_future()
        self._opened: asyncio.Future[None] = self._loop.create_future()
        self._thread = threading.Thread(target=self._main, name=f"klokka-{name}-{os.getpid()}")

    async def open(self) -> None:
        """Starts the thread and returns when it is connected; raises what kept it from that."""
        self._thread.start()
        await asyncio.shield(self._opened)

    def run(self, verb: Callable[[Transaction], T]) -> "asyncio.Future[T]":
        """The answer of `verb`, in time. Cancelled before it began, the verb never runs; later, it runs to its end."""
        future: asyncio.Future[T] = self._loop.create_future()
        self._queue.put(Call(verb, future))
        return future

    async def close(self) -> None:
        """Returns when what was under way is done, the connection is closed and the thread has ended."""
        if self._thread.ident is None:
            return
        self._queue.put(None)
        await asyncio.shield(self._ended)
        self._thread.join()

    def _main(self) -> None:
        opening = Call(lambda _: None, self._opened)
        try:
            connection = self._performer.connect()
        except BaseException as error:
            opening.error = error
            self._report([opening])
        else:
            self._report([opening])
            try:
                self._serve(connection)
            finally:
                self._performer.disconnect(connection)
        finally:
            self._report([Call(lambda _: None, self._ended)])

    def _serve(self, connection: sqlite3.Connection) -> None:
        going = True
        while going:
            calls: list[Call] = []
            going = self._gather(calls)
            if calls:
                try:
                    self._performer.perform(connection, calls)
                except BaseException as error:  # else the thread would end, and whoever waits would wait for ever
                    _fail(connection, calls, error)
                self._report(calls)

    def _gather(self, calls: list[Call]) -> bool:
        """Fills `calls` with what waits, at least one; False if it is time to end."""
        try:
            call = self._queue.get(timeout=_LOOK)
            while call is not None:
                if not call.future.cancelled():
                    calls.append(call)
                if len(calls) == _GROUP:
                    return True
                call = self._queue.get_nowait()
        except Empty:
            # A handle that nobody closed must not keep the interpreter from ending.
            return threading.main_thread().is_alive()
        return False

    def _report(self, calls: Sequence[Call]) -> None:
        with contextlib.suppress(RuntimeError):  # the loop was closed before the handle: nobody waits any more
            self._loop.call_soon_threadsafe(_settle, calls)


def _fail(connection: sqlite3.Connection, calls: Sequence[Call], error: BaseException) -> None:
    """Tells every call that it may or may not have happened, and leaves no transaction open behind it."""
    with contextlib.suppress(sqlite3.Error):
        if connection.in_transaction:
            connection.execute("rollback")
    for call in calls:
        call.error = UnknownOutcome(
            f"the database failed around this call ({error}). It may have happened; look first."
        )
        call.error.__cause__ = error


def _settle(calls: Sequence[Call]) -> None:
    for call in calls:
        call.settle()
