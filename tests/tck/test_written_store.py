"""The store of docs/write-a-store.md keeps the core of the contract, and says what it lacks."""

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from klokka.tck.check import Check
from klokka.tck.choice import chosen
from klokka.tck.levels import LEVELS
from klokka.tck.report import Failed, Skipped
from klokka.tck.run import run_check
from tests.support.pages import ROOT, blocks_of


@pytest.fixture(scope="module")
def kit(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    """The page's factory, as the page writes it."""
    folder: Path = tmp_path_factory.mktemp("written")
    for block in blocks_of(ROOT / "docs" / "write-a-store.md"):
        if block.file is not None:
            (folder / block.file).write_text(block.text)
    sys.path.insert(0, str(folder))
    try:
        yield importlib.import_module("kit")
    finally:
        sys.path.remove(str(folder))
        for name in ("kit", "shelf"):
            sys.modules.pop(name, None)


@pytest.mark.parametrize("check", chosen(["core"]), ids=lambda check: check.id)
async def test_the_store_of_the_page_keeps_the_core(kit: ModuleType, check: Check) -> None:
    result = await run_check(check, kit.fresh_store)

    if isinstance(result, Skipped):
        pytest.skip(result.reason)
    if isinstance(result, Failed):
        pytest.fail(str(result))


async def test_the_store_of_the_page_says_what_it_lacks(kit: ModuleType) -> None:
    async with kit.fresh_store() as subject:
        offered = [level.name for level in LEVELS if level.lacking(subject.store) is None]

    assert offered == ["core"]
