"""Cancelling a verb at one of its awaits."""

import asyncio
from collections.abc import Awaitable

import pytest

from klokka.tck.cancellation import Interrupted, cancelled_at, interrupted


class Steps:
    """A verb of three waits, which says how far it came."""

    def __init__(self) -> None:
        self.done: list[str] = []

    async def go(self) -> str:
        await asyncio.sleep(0)
        self.done.append("first")
        await _ready()
        self.done.append("second")
        try:
            await _ready()
        finally:
            self.done.append("third")
        return "answer"


def _ready() -> Awaitable[None]:
    loop = asyncio.get_running_loop()
    future: asyncio.Future[None] = loop.create_future()
    loop.call_soon(future.set_result, None)
    return future


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize(("wait", "done"), [(0, []), (1, ["first"]), (2, ["first", "second", "third"])])
async def test_it_ends_at_the_wait_of_that_number(wait: int, done: list[str], late: bool) -> None:
    steps = Steps()

    with pytest.raises(Interrupted):
        await cancelled_at(steps.go(), wait, late=late)

    assert steps.done == done


async def test_a_verb_with_fewer_waits_answers() -> None:
    assert await cancelled_at(Steps().go(), 3, late=False) == "answer"


async def test_late_is_when_what_was_waited_for_is_there() -> None:
    happened = asyncio.Event()

    async def verb() -> None:
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        asyncio.get_running_loop().call_soon(lambda: (happened.set(), future.set_result(None)))
        await future

    with pytest.raises(Interrupted):
        await cancelled_at(verb(), 0, late=True)

    assert happened.is_set()


async def test_an_error_of_the_verb_is_its_own() -> None:
    async def verb() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await cancelled_at(verb(), 0, late=False)


async def test_some_steps_of_the_loop_may_be_enough() -> None:
    assert await interrupted(Steps().go(), 50) == "answer"
    with pytest.raises(Interrupted):
        await interrupted(Steps().go(), 1)
