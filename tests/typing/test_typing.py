"""The public API is what the checkers see: right uses pass, each wrong one is refused, by both."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
BIN = Path(sys.executable).parent
MARKED = {
    number for number, line in enumerate((HERE / "wrong.py").read_text().splitlines(), 1) if line.endswith("# error")
}

pytestmark = [pytest.mark.house, pytest.mark.timeout(300)]


def mypy_errors(file: str) -> set[int]:
    result = subprocess.run(
        [BIN / "mypy", "--no-error-summary", "--hide-error-context", HERE / file],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "error: Cannot find" not in result.stdout, result.stdout
    return {int(n) for n in re.findall(rf"{re.escape(file)}:(\d+): error", result.stdout)}


def pyright_errors(file: str) -> set[int]:
    result = subprocess.run(
        [BIN / "basedpyright", "--outputjson", HERE / file], cwd=ROOT, capture_output=True, text=True, check=False
    )
    found = json.loads(result.stdout)["generalDiagnostics"]
    return {d["range"]["start"]["line"] + 1 for d in found if d["severity"] == "error"}


CHECKERS = pytest.mark.parametrize("errors_in", [mypy_errors, pyright_errors], ids=["mypy", "basedpyright"])


@CHECKERS
def test_every_right_use_is_accepted(errors_in: object) -> None:
    assert callable(errors_in)

    assert errors_in("right.py") == set()


@CHECKERS
def test_every_wrong_use_is_refused_and_nothing_else(errors_in: object) -> None:
    assert callable(errors_in)

    assert errors_in("wrong.py") == MARKED


def test_there_are_enough_of_both() -> None:
    assert len(MARKED) >= 17
    assert (HERE / "right.py").read_text().count("klokka.") >= 17
