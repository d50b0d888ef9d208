"""The public face names each thing three times: for checkers, for readers, and where it is imported from when used."""

import ast
import importlib
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import get_args

import klokka
from klokka.core import events
from tests.support.pages import blocks_of, pages


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
        *(
            "klokka.runtime.worker",
            "klokka.schedules",
            "klokka.app.schedules",
            "klokka.spi.fleet",
            "klokka.core.events",
            "klokka.stores.sqlite",
            "klokka.cli",
        ),
        *("multiprocessing", "importlib.metadata", "sqlite3", "psycopg", "pydantic", "cronsim", "click", "rich"),
    }
    code = "import sys, klokka; klokka.Klokka('memory:'); print(*sys.modules)"

    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=30)

    assert spared & set(result.stdout.split()) == set()


def test_what_the_pages_call_by_klokka_is_there() -> None:
    named = {
        name
        for page in pages()
        for block in blocks_of(page)
        if block.language == "python"
        for name in re.findall(r"\bklokka\.([A-Za-z_]+)", block.text)
    } | {name for page in pages() for name in re.findall(r"`klokka\.([A-Z][A-Za-z_]+)", page.read_text())}

    assert len(named) > 30
    assert [name for name in named if name not in klokka.__all__ and find_spec(f"klokka.{name}") is None] == []


def test_every_event_and_what_listeners_may_take_for_many_is_there() -> None:
    told = get_args(events.Event)
    above = {parent for event in told for parent in event.__mro__ if parent.__module__ == events.__name__}

    assert {event.__name__ for event in {*told, *above}} - set(klokka.__all__) == set()
