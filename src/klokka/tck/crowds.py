"""Many handles at once: on one loop, and on threads that each have their own.

`Busy` is a legal answer to whoever waited for as long as the store's bound says, and a crowd on a slow disk may well
get it. A caller of a crowd asks again then, which is safe since nothing was written [enqueue.bounded].
"""

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Future
from typing import Any, Final, TypeVar

from klokka.errors import Busy
from klokka.spi.store import JobStore
from klokka.tck.interceptor import intercepted

R = TypeVar("R")

_START_WITHIN: Final = 20.0
_ASKS_FOR: Final = 40.0
"""Seconds for which a caller of a crowd takes `Busy` for an answer."""


def patient(store: JobStore) -> JobStore:
    """`store`, asked again for as long as it is `Busy`.

    One that gives up before its stated bound was not waiting for anybody, and its `Busy` is raised.
    """
    return intercepted(store, _Patience(store.traits.bound.total_seconds()))


async def gathered(stores: Sequence[JobStore], work: Callable[[JobStore, int], Awaitable[R]]) -> list[R]:
    """The results of `work` on these open handles, begun together on this loop."""
    begin = asyncio.Barrier(len(stores))

    async def one(store: JobStore, number: int) -> R:
        async with begin:
            pass
        return await work(patient(store), number)

    running = [asyncio.create_task(one(store, number)) for number, store in enumerate(stores)]
    try:
        return await asyncio.gather(*running)
    finally:
        for task in running:
            task.cancel()


async def threaded(stores: Sequence[JobStore], work: Callable[[JobStore, int], Awaitable[R]]) -> list[R]:
    """The results of `work` on these unopened handles, begun together, each on a thread with a loop of its own.

    The threads are daemons: one that hangs is left behind when the check runs out of time, and does not hold up
    whoever runs the kit.
    """
    begin = threading.Barrier(len(stores))

    async def one(store: JobStore, number: int) -> R:
        try:
            await store.open()
        except BaseException:
            begin.abort()  # the others shall not wait for this one
            raise
        try:
            begin.wait(_START_WITHIN)
            return await work(patient(store), number)
        finally:
            await store.close()

    def run(store: JobStore, number: int, outcome: Future[R]) -> None:
        outcome.set_running_or_notify_cancel()  # from here on nobody can cancel it, and it may be set
        try:
            outcome.set_result(asyncio.run(one(store, number)))
        except BaseException as error:
            outcome.set_exception(error)

    outcomes: list[Future[R]] = []
    for number, store in enumerate(stores):
        outcome: Future[R] = Future()
        outcomes.append(outcome)
        threading.Thread(target=run, args=(store, number, outcome), daemon=True, name=f"tck-{number}").start()
    return await asyncio.gather(*(asyncio.wrap_future(outcome) for outcome in outcomes))


async def in_thread(work: Callable[[], R]) -> R:
    """The result of blocking work on a thread of its own."""
    outcome: Future[R] = Future()

    def run() -> None:
        outcome.set_running_or_notify_cancel()
        try:
            outcome.set_result(work())
        except BaseException as error:
            outcome.set_exception(error)

    threading.Thread(target=run, daemon=True, name="tck-blocking").start()
    return await asyncio.wrap_future(outcome)


class _Patience:
    """Sends a verb again that came back with `Busy`."""

    def __init__(self, bound: float) -> None:
        self._bound = bound

    async def awaited(
        self, verb: str, call: Callable[..., Awaitable[Any]], args: tuple[Any, ...], named: dict[str, Any]
    ) -> Any:
        del verb
        begun = time.monotonic()
        while True:
            asked = time.monotonic()
            try:
                return await call(*args, **named)
            except Busy:
                if self._is_early(asked) or time.monotonic() - begun > _ASKS_FOR:
                    raise

    def blocking(self, verb: str, call: Callable[..., Any], args: tuple[Any, ...], named: dict[str, Any]) -> Any:
        del verb
        return call(*args, **named)

    def _is_early(self, asked: float) -> bool:
        return time.monotonic() - asked < self._bound / 2
