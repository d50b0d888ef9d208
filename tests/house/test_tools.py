"""The house's own rules, so that one command checks everything."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent

pytestmark = [pytest.mark.house, pytest.mark.timeout(600)]


@pytest.mark.parametrize(
    "command",
    [
        ["ruff", "check", "."],
        ["ruff", "format", "--check", "."],
        ["mypy"],
        ["basedpyright"],
        ["lint-imports", "--no-cache"],
    ],
    ids=lambda command: " ".join(command),
)
def test_the_tool_has_nothing_to_say(command: list[str]) -> None:
    result = subprocess.run([BIN / command[0], *command[1:]], cwd=ROOT, capture_output=True, text=True, check=False)

    assert result.returncode == 0, result.stdout[-8000:] + result.stderr[-4000:]
