"""Sizes, names and words that the house keeps to."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.house


def tracked(*patterns: str) -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z", *patterns], cwd=ROOT, capture_output=True, text=True, check=True)
    return [ROOT / name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]


def test_no_module_is_longer_than_400_lines_and_no_test_file_than_500() -> None:
    long = {
        str(path.relative_to(ROOT)): lines
        for path in tracked("*.py")
        if (lines := path.read_text().count("\n")) > (500 if "tests" in path.parts else 400)
    }

    assert long == {}


def test_no_module_is_named_for_being_a_drawer() -> None:
    drawers = {"utils", "util", "helpers", "helper", "common", "manager", "base", "misc"}

    assert [path for path in tracked("src/*.py") if path.stem in drawers] == []


def test_the_words_that_promise_too_much_stand_nowhere() -> None:
    promise = re.compile(r"exactly[\s-]once", re.IGNORECASE)
    own = Path(__file__)

    found = [p for p in tracked("*.py", "*.md", "*.sql", "*.toml") if p != own and promise.search(p.read_text())]

    assert found == []


def test_every_module_says_what_it_is_for() -> None:
    silent = [p for p in tracked("src/*.py") if p.read_text().strip() and not p.read_text().startswith('"""')]

    assert silent == []


def test_the_public_face_is_names_only_and_sorted() -> None:
    import klokka

    assert klokka.__all__ == sorted(klokka.__all__)
    assert all(hasattr(klokka, name) for name in klokka.__all__)


def test_no_room_imports_the_public_face() -> None:
    face = re.compile(r"^\s*(import klokka\s*$|import klokka as|from klokka import)", re.MULTILINE)
    rooms = [path for path in tracked("src/*.py") if path.parent.name != "klokka"]

    assert [path for path in rooms if face.search(path.read_text())] == []


def test_the_diagram_of_states_is_the_table_of_moves() -> None:
    from klokka.core.states import LEGAL

    drawn = re.search(r"stateDiagram-v2\n(.*?)```", (ROOT / "ARCHITECTURE.md").read_text(), re.DOTALL)

    expected = "".join(f"    {start} --> {end}: {move.value}\n" for (start, move), end in LEGAL.items())
    assert drawn is not None
    assert drawn.group(1) == expected
