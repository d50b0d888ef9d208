"""The short form of `python -m tests.soaks.schedules`."""

from pathlib import Path

from tests.soaks.schedules import soak


async def test_each_tick_has_one_job_while_nodes_are_killed_frozen_and_restarted(tmp_path: Path) -> None:
    verdict = await soak(f"sqlite:///{tmp_path / 'soak.db'}", seconds=6)

    assert verdict.faults == []
    assert verdict.runs > 20
