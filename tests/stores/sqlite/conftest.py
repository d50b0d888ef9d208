"""Stores on fresh files, closed at the end."""

from collections.abc import AsyncGenerator
from datetime import timedelta
from pathlib import Path

import pytest

from klokka.core.clocks import ManualClock
from klokka.stores.sqlite import Durability, SqliteStore


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "jobs.db"


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
async def store(path: Path, clock: ManualClock) -> AsyncGenerator[SqliteStore]:
    made = SqliteStore(path, clock=clock, durability=Durability.PROCESS, busy_bound=timedelta(milliseconds=200))
    await made.open()
    yield made
    await made.close()
