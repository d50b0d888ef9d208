"""Verbs that are cancelled on their way: after some steps of the loop, or at one of their awaits."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Generator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

R = TypeVar("R")


class Interrupted(Exception):
    """The verb was cancelled before it answered: its outcome is unknown."""


class Swallowed(Exception):
    """The verb was cancelled, and answered all the same: whoever cancelled it waits for an end that does not come."""


async def interrupted(verb: Awaitable[R], steps: int) -> R:
    """The answer of `verb`, if it comes within so many steps of the event loop.

    Raises:
        Interrupted: it did not, and was cancelled.
    """
    task = asyncio.ensure_future(verb)
    try:
        for _ in range(steps):
            if task.done():
                break
            await asyncio.sleep(0)
    finally:
        task.cancel()  # does nothing to one that is done
        await asyncio.wait([task])
    if task.cancelled():
        raise Interrupted
    return task.result()


async def cancelled_at(verb: Coroutine[Any, Any, R], wait: int, *, late: bool) -> R:
    """The answer of `verb`, if it waits for something fewer times; at the wait of that number it is cancelled.

    At once, or `late`: when what it waits for is there, and before it goes on.

    Raises:
        Interrupted: it was cancelled.
        Swallowed: it was, and answered all the same.
    """

    async def go() -> R:
        return await _Waits(verb, wait, late)

    task = asyncio.create_task(go())
    await asyncio.wait([task])
    if task.cancelled():
        raise Interrupted
    return task.result()


@dataclass(frozen=True, slots=True)
class _Waits(Generic[R]):
    """A coroutine whose waits are counted, and cancelled at one."""

    verb: Coroutine[Any, Any, R]
    wait: int
    late: bool

    def __await__(self) -> Generator[Any, Any, R]:
        inner = self.verb.__await__()
        count = 0
        was_cancelled = False
        resume = _sent(inner, None)
        while True:
            try:
                waited = resume()
            except StopIteration as end:
                if was_cancelled:
                    raise Swallowed from None
                answer: R = end.value
                return answer
            if count == self.wait:
                self._cancel(waited)
            count += 1
            try:
                received = yield waited
            except BaseException as error:
                was_cancelled = was_cancelled or isinstance(error, asyncio.CancelledError)
                resume = _thrown(inner, error)
            else:
                resume = _sent(inner, received)

    def _cancel(self, waited: Any) -> None:
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("a verb is awaited by a task.")
        if not self.late:
            task.cancel()
        elif waited is None:  # it lets others go first, and waits for nothing
            asyncio.get_running_loop().call_soon(task.cancel)
        else:
            waited.add_done_callback(lambda _: task.cancel())  # pyright: ignore[reportUnknownLambdaType]


def _sent(inner: Generator[Any, Any, object], value: Any) -> Callable[[], Any]:
    return lambda: inner.send(value)


def _thrown(inner: Generator[Any, Any, object], error: BaseException) -> Callable[[], Any]:
    return lambda: inner.throw(error)
