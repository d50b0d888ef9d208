"""The watchdog: a store that blocks its event loop is reported, with the place where it stands."""

import threading
from datetime import timedelta
from typing import Any

from klokka.stores.memory.store import MemoryStore
from klokka.tck.choice import chosen
from klokka.tck.report import Failed, Passed
from klokka.tck.watchdog import BlockedCheck, watched
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
    assert isinstance(result.error, BlockedCheck)
    assert "release.wait(20)" in str(result.error)
    assert result.clauses == ("claim.due",)
