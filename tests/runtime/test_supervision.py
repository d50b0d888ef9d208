"""No duty dies silently."""

import asyncio
from itertools import count
from types import SimpleNamespace
from typing import Any

import pytest

from klokka.runtime import outages
from klokka.runtime.outages import Outage
from klokka.runtime.supervision import supervised
from tests.support.flaky import FlakyStore
from tests.support.working import LONG, enqueue, handler, until, working


async def test_a_duty_that_raises_is_logged_and_starts_again(caplog: Any) -> None:
    failures: list[BaseException] = [ValueError("a bug"), asyncio.CancelledError("not ours")]

    async def duty() -> None:
        if failures:
            raise failures.pop(0)

    await asyncio.wait_for(supervised("cook", duty), LONG)

    said = [record for record in caplog.records if record.exc_info]
    assert [record.getMessage() for record in said] == ["the cook failed unexpectedly and starts again"] * 2


async def test_a_duty_ends_when_it_is_cancelled() -> None:
    begun = asyncio.Event()

    async def duty() -> None:
        begun.set()
        await asyncio.Event().wait()

    task = asyncio.create_task(supervised("cook", duty))
    await begun.wait()
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task


def test_patience_grows_and_is_capped() -> None:
    outage = Outage("cooking", first=1.0, longest=10.0)

    waits = [outage.failed(ValueError()) for _ in range(2000)]

    assert 0.75 <= waits[0] <= 1.0
    assert max(waits) <= 10.0
    assert min(waits[10:]) >= 7.5
    outage.over()
    assert outage.failed(ValueError()) <= 1.0


def test_an_outage_is_told_at_its_beginning_each_minute_and_at_its_end(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = count(step=25)
    monkeypatch.setattr(outages, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    outage = Outage("cooking")

    for _ in range(6):
        outage.failed(ValueError("no gas"))
    outage.over()

    assert [record.getMessage() for record in caplog.records if record.name == "klokka.outage"] == [
        "cooking fails (ValueError: no gas); trying again until it works",
        "cooking still fails after 1 m 15 s (ValueError: no gas)",
        "cooking works again after 2 m 30 s; tries that failed: 6",
    ]


async def test_the_thread_that_renews_leases_outlives_what_happens_to_it(
    store: FlakyStore, caplog: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    released = asyncio.Event()
    retired = FlakyStore.new_handle
    broken: list[int] = []

    def new_handle(self: FlakyStore) -> FlakyStore:
        handle = retired(self)
        if not broken:
            broken.append(1)
            handle.beat = _killed  # type: ignore[method-assign]
        return handle

    async def run(payload: Any, job: Any) -> None:
        await released.wait()

    monkeypatch.setattr(FlakyStore, "new_handle", new_handle)
    await enqueue(store, 1)
    async with working(store, handler(run)):
        await until(lambda: "starts again" in caplog.text, "the end to be said")
        beats = store.weather.calls["beat"]
        await until(lambda: store.weather.calls["beat"] > beats, "it to go on")
        released.set()


async def _killed(*args: Any, **kwargs: Any) -> None:
    raise SystemExit("whatever")
