"""The example does what it says: a foreign queue gets each tick once, from whichever replica holds the lease."""

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

from klokka.core.instants import aware
from klokka.errors import InvalidInput
from klokka.recurring import Request
from klokka.stores.sqlite.store import SqliteStore

FILE = Path(__file__).parents[2] / "examples" / "recurring_over_a_directory.py"


@pytest.fixture
def example() -> Any:
    spec = importlib.util.spec_from_file_location("recurring_over_a_directory", FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


async def test_two_replicas_write_one_file_for_a_tick(example: Any, tmp_path: Path) -> None:
    state = SqliteStore(tmp_path / "state.db")
    await state.open()
    replicas = [example.make_ticker(tmp_path / "outbox", state) for _ in range(2)]
    now = await state.now()
    for replica in replicas:
        await replica.tick(now)

    later = aware(now.replace(year=now.year + 1, month=3, day=2, hour=12))
    await replicas[0].tick(later)
    await replicas[0].stop()
    await replicas[1].tick(later)
    await state.close()

    messages = [json.loads(file.read_text()) for file in (tmp_path / "outbox").iterdir()]
    assert sorted(message["kind"] for message in messages) == ["heartbeat", "report.daily"]


async def test_what_a_directory_cannot_do_is_refused(example: Any, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="no queues, priorities or retries"):
        example.DirectoryQueue(tmp_path).admit(Request(kind="report", args=None, priority=1))
