"""Each failure on the page has tests, and each test that the page names exists."""

import ast
import functools
import re
from pathlib import Path

from tests.support.pages import ROOT

_ROW = re.compile(r"^\| (\d+) \| .+ \| (.+) \|$", re.MULTILINE)
_TEST = re.compile(r"`([\w/]+\.py)::(\w+)`")

SHOWN = {
    int(number): _TEST.findall(shown) for number, shown in _ROW.findall((ROOT / "docs" / "failures.md").read_text())
}


def test_every_failure_is_there_once_with_a_test() -> None:
    assert list(SHOWN) == list(range(1, 57))
    assert [number for number, tests in SHOWN.items() if not tests] == []


def test_every_test_that_is_named_exists_where_it_is_said_to_be() -> None:
    named = [(ROOT / path, name) for tests in SHOWN.values() for path, name in tests]

    assert [f"{path}::{name}" for path, name in named if name not in _functions(path)] == []


@functools.cache
def _functions(path: Path) -> frozenset[str]:
    if not path.exists():
        return frozenset()
    functions = (
        node for node in ast.parse(path.read_text()).body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )
    return frozenset(function.name for function in functions)
