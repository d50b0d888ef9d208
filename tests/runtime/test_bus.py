"""Events to listeners that never hold up who tells them."""

import asyncio
import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from klokka.core import events
from klokka.core.ids import JobId
from klokka.runtime.bus import EventBus
from tests.support.working import until


def succeeded(number: int = 1) -> events.Succeeded:
    return events.Succeeded(id=JobId(number), kind="a", queue="default", attempt=1, ran=timedelta(0))


def test_nothing_is_wanted_where_nobody_listens() -> None:
    bus = EventBus()

    assert not bus.listened
    assert not bus.wants(events.Succeeded)


def test_a_listener_to_a_class_hears_all_below_it_and_nothing_else() -> None:
    bus = EventBus()
    bus.on(events.Ended, lambda event: None)

    assert bus.wants(events.Succeeded)
    assert bus.wants(events.LeaseLost)
    assert not bus.wants(events.Started)


async def test_sync_listeners_hear_in_order_on_a_thread_of_their_own() -> None:
    bus = EventBus()
    heard: list[int] = []
    threads: set[int] = set()

    def listen(event: events.Succeeded) -> None:
        heard.append(event.id)
        threads.add(threading.get_ident())

    bus.on(events.Succeeded, listen)
    for number in range(100):
        bus.tell(succeeded(number))
    await bus.flush(10)

    assert heard == list(range(100))
    assert threading.get_ident() not in threads


async def test_async_listeners_run_on_the_loop_also_for_what_a_thread_tells() -> None:
    bus = EventBus()
    bus.bind(asyncio.get_running_loop())
    heard: list[int] = []

    async def listen(event: events.Succeeded) -> None:
        asyncio.get_running_loop()
        heard.append(event.id)

    bus.on(events.Succeeded, listen)
    bus.tell(succeeded(1))
    await asyncio.to_thread(bus.tell, succeeded(2))
    await until(lambda: heard == [1, 2], "both")


async def test_a_listener_that_raises_is_logged_and_listens_on(caplog: Any) -> None:
    bus = EventBus()
    heard: list[int] = []

    def bad(event: events.Succeeded) -> None:
        raise ValueError("listener")

    async def bad_too(event: events.Succeeded) -> None:
        raise ValueError("async listener")

    bus.on(events.Succeeded, bad)
    bus.on(events.Succeeded, bad_too)
    bus.on(events.Succeeded, lambda event: heard.append(event.id))
    bus.tell(succeeded(1))
    bus.tell(succeeded(2))
    await bus.flush(10)

    assert heard == [1, 2]
    assert len([record for record in caplog.records if record.exc_info]) == 4


@pytest.mark.parametrize(
    "make", [lambda release: _slow_sync(release), lambda release: _slow_async()], ids=["sync", "async"]
)
async def test_listeners_that_are_too_slow_lose_events_and_hold_up_nobody(
    make: Callable[[threading.Event], Any], caplog: Any
) -> None:
    bus = EventBus(limit=10)
    release = threading.Event()
    bus.on(events.Succeeded, make(release))

    for number in range(1000):
        bus.tell(succeeded(number))
    release.set()

    said = [record.getMessage() for record in caplog.records]
    assert len(said) == 1
    assert "events were dropped" in said[0]
    await bus.flush(0.01)
    for task in asyncio.all_tasks() - {asyncio.current_task()}:
        task.cancel()


def _slow_sync(release: threading.Event) -> Any:
    return lambda event: release.wait(10)


def _slow_async() -> Any:
    async def listen(event: events.Succeeded) -> None:
        await asyncio.Event().wait()

    return listen


async def test_a_flush_of_a_stuck_listener_ends() -> None:
    bus = EventBus()
    release = threading.Event()
    bus.on(events.Succeeded, lambda event: release.wait(10))

    bus.tell(succeeded())
    await asyncio.wait_for(bus.flush(0.05), 5)
    release.set()


def test_events_may_be_told_where_no_loop_runs() -> None:
    bus = EventBus()
    heard = threading.Event()

    async def never(event: events.Succeeded) -> None: ...

    bus.on(events.Succeeded, lambda event: heard.set())
    bus.on(events.Succeeded, never)
    bus.tell(succeeded())

    assert heard.wait(10)


async def test_a_listener_that_exits_ends_neither_the_listening_nor_the_loop() -> None:
    bus = EventBus()
    bus.bind(asyncio.get_running_loop())
    heard: list[int] = []

    def leave(event: events.Succeeded) -> None:
        raise SystemExit

    async def leave_async(event: events.Succeeded) -> None:
        raise SystemExit

    bus.on(events.Succeeded, leave)
    bus.on(events.Succeeded, leave_async)
    bus.on(events.Succeeded, lambda event: heard.append(event.id))
    bus.tell(succeeded(1))
    await bus.flush(10)
    bus.tell(succeeded(2))
    await bus.flush(10)

    assert heard == [1, 2]
