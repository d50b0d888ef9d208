"""Many handles at once: on one loop, and on threads that each have their own."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Future
from typing import Final, TypeVar

from klokka.spi.store import JobStore

R = TypeVar("R")

_START_WITHIN: Final = 20.0


async def gathered(stores: Sequence[JobStore], work: Callable[[JobStore, int], Awaitable[R]]) -> list[R]:
    """The results of `work` on these open handles, begun together on this loop."""
    begin = asyncio.Barrier(len(stores))

    async def one(store: JobStore, number: int) -> R:
        async with begin:
            pass
        return await work(store, number)

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
            return await work(store, number)
        finally:
            await store.close()

    def run(store: JobStore, number: int, outcome: Future[R]) -> None:
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
        try:
            outcome.set_result(work())
        except BaseException as error:
            outcome.set_exception(error)

    threading.Thread(target=run, daemon=True, name="tck-blocking").start()
    return await asyncio.wrap_future(outcome)
