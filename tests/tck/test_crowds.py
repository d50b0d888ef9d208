"""Crowds: a caller that is told Busy asks again, and one that is told so too early does not."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from klokka.errors import Busy
from klokka.stores.memory.store import MemoryStore
from klokka.tck.crowds import gathered, threaded

BOUND = timedelta(milliseconds=40)


class BusyTwice(MemoryStore):
    """Waits for its bound and gives up, twice on each handle."""

    wait = BOUND.total_seconds()

    async def next_due(self, **arguments: Any) -> Any:
        tries = self.__dict__.setdefault("tries", [])
        if len(tries) < 2:
            tries.append(1)
            await asyncio.sleep(self.wait)
            raise Busy("somebody else writes")
        return await super().next_due(**arguments)


class BusyAtOnce(BusyTwice):
    wait = 0.0


async def ask(store: Any, number: int) -> Any:
    return await store.next_due(queues=["a"], kinds=["b"])


async def test_busy_after_the_bound_is_asked_again() -> None:
    store = BusyTwice(bound=BOUND)
    await store.open()

    assert await gathered([store], ask) == [None]
    assert await threaded([store.new_handle(), store.new_handle()], ask) == [None, None]


async def test_busy_before_the_bound_is_an_error() -> None:
    with pytest.raises(Busy):
        await threaded([BusyAtOnce(bound=timedelta(seconds=5))], ask)
