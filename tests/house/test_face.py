"""The public face names each thing three times: for checkers, for readers, and where it is imported from when used."""

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import klokka


def _seen_by_checkers() -> dict[str, tuple[str, ...]]:
    tree = ast.parse(Path(klokka.__file__).read_text(encoding="utf-8"))
    imports = (node for branch in tree.body if isinstance(branch, ast.If) for node in branch.body)
    return {
        str(node.module): tuple(alias.name for alias in node.names)
        for node in imports
        if isinstance(node, ast.ImportFrom)
    }


def test_checkers_and_users_get_the_same_names_from_the_same_places() -> None:
    assert _seen_by_checkers() == klokka._HOMES
    assert sorted(name for names in klokka._HOMES.values() for name in names) == klokka.__all__


def test_each_name_is_the_thing_itself() -> None:
    for home, names in klokka._HOMES.items():
        for name in names:
            assert getattr(klokka, name) is getattr(importlib.import_module(home), name)


def test_importing_the_package_alone_imports_no_room() -> None:
    code = "import klokka, sys; print([name for name in sys.modules if name.startswith('klokka.')])"

    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=30)

    assert result.stdout == "[]\n"


def test_making_an_app_imports_nothing_that_only_workers_listeners_or_other_stores_need() -> None:
    spared = {
        *("klokka.runtime.worker", "klokka.schedules", "klokka.core.events", "klokka.stores.sqlite", "klokka.cli"),
        *("multiprocessing", "importlib.metadata", "sqlite3", "psycopg", "pydantic", "cronsim", "click", "rich"),
    }
    code = "import sys, klokka; klokka.Klokka('memory:'); print(*sys.modules)"

    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=30)

    assert spared & set(result.stdout.split()) == set()
