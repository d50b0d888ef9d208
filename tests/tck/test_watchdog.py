"""The watchdog: a store that blocks its event loop is reported, with the place where it stands."""

import itertools
import threading
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import pytest

from klokka.stores.memory.store import MemoryStore
from klokka.tck import report_text
from klokka.tck.campaign import conduct, examined
from klokka.tck.choice import chosen
from klokka.tck.door import Unfit
from klokka.tck.endings import Blocking
from klokka.tck.report import Failed, Passed
from klokka.tck.subject import Subject
from klokka.tck.watchdog import watched
from tests.support.subjects import memory_factory

STALL = timedelta(milliseconds=300)


def test_a_check_under_the_watchdog_has_its_result() -> None:
    (check,) = chosen(["claim.nothing_is_given_before_its_time"])

    assert isinstance(watched(check, memory_factory()), Passed)


def test_a_store_that_blocks_its_loop_has_failed() -> None:
    release = threading.Event()

    class Blocks(MemoryStore):
        async def claim(self, **_: Any) -> Any:
            release.wait(20)
            return []

    (check,) = chosen(["claim.nothing_is_given_before_its_time"])

    result = watched(check, memory_factory(Blocks), stall=STALL)
    release.set()

    assert isinstance(result, Failed)
    assert isinstance(result.error, Blocking)
    assert "release.wait(20)" in str(result.error)
    assert result.clauses == ("claim.due",)


def test_a_store_that_would_end_the_interpreter_has_failed() -> None:
    class Interrupts(MemoryStore):
        async def claim(self, **_: Any) -> Any:
            raise KeyboardInterrupt

    (check,) = chosen(["claim.nothing_is_given_before_its_time"])

    result = watched(check, memory_factory(Interrupts))

    assert isinstance(result, Failed)
    assert "raised where the contract promises a result: KeyboardInterrupt" in str(result.error)


def test_a_factory_that_would_end_the_interpreter_is_refused() -> None:
    def interrupts() -> Any:
        raise KeyboardInterrupt

    with pytest.raises(Unfit, match="factory or store raised KeyboardInterrupt"):
        examined(interrupts)


def test_a_run_is_given_up_where_the_factory_fails_again_and_again() -> None:
    turns = itertools.count()

    @asynccontextmanager
    async def used_up() -> AsyncGenerator[Subject]:
        if next(turns) > 3:
            raise ConnectionError("no more databases")
        async with memory_factory()() as subject:
            yield subject

    report = conduct(used_up, chosen(["claim_order"]), seed=1)

    assert len(report.passed) == 2
    assert [str(failed.error) for failed in report.failed] == [
        "the factory raised before it gave a subject: ConnectionError: no more databases"
    ] * 3
    assert report.given_up is not None
    assert f"given up: {report.given_up}" in report_text.text(report)
    assert report.broken == frozenset()
