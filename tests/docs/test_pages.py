"""The pages say what is true: their code runs, their links lead somewhere, the tests that they name exist."""

import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Final

import pytest

from tests.support.pages import ROOT, anchors_of, blocks_of, functions, links_of, name_of, pages

RUN = {"python", "toml", "sh"}
NOT_RUN = {
    "README.md": 2,  # the project's own tests and demo
    "CONTRIBUTING.md": 2,
    "docs/benchmarks.md": 1,
    "docs/guide.md": 2,  # a unit of systemd, a container
    "docs/transactions.md": 2,  # an asynchronous session, a Django project; tests run the same
    "docs/postgres.md": 5,  # SQL of roles, which tests of the store run; migrations of a server
}
"""How many blocks of each page may say that they are not run. The reason stands on the page."""

PAGE_BOUND: Final = 900
"""Seconds for all blocks of a page; each command has a bound of its own. With four busy processes a core the guide took 73."""


@pytest.mark.timeout(PAGE_BOUND + 30)
@pytest.mark.parametrize(
    "page", [page for page in pages() if any(block.language in RUN for block in blocks_of(page))], ids=name_of
)
def test_the_blocks_of_a_page_run_in_order(page: Path, tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
    }

    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "tests.support.page_run", str(page)],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=PAGE_BOUND,
        check=False,
    )

    assert done.returncode == 0, done.stderr[-6000:]


def test_no_block_is_left_out_in_silence() -> None:
    left_out = Counter(name_of(page) for page in pages() for block in blocks_of(page) if block.not_run)

    assert left_out == NOT_RUN


def test_every_block_is_run_or_compared_or_drawn_or_says_why_not() -> None:
    silent = [
        f"{name_of(page)}:{block.line}"
        for page in pages()
        for block in blocks_of(page)
        if block.language not in {*RUN, "text", "mermaid"} and not block.not_run
    ]

    assert silent == []


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_every_link_leads_somewhere(page: Path) -> None:
    broken = [link for link in links_of(page) if not _resolves(page, link)]

    assert broken == []


def test_every_page_can_be_reached_from_the_readme() -> None:
    reached: set[Path] = set()
    ahead = [ROOT / "README.md"]
    while ahead:
        page = ahead.pop()
        if page not in reached and page.suffix == ".md":
            reached.add(page)
            ahead += [(page.parent / link.partition("#")[0]).resolve() for link in links_of(page) if link[0] != "#"]

    assert [name_of(page) for page in pages() if page not in reached] == []


def test_every_fault_has_a_test_that_exists() -> None:
    text = (ROOT / "docs" / "what-happens-when.md").read_text()
    faults = re.findall(r"^- \*\*(.+?)\*\*(.+?)(?=\n- |\n\n|\Z)", text, re.DOTALL | re.MULTILINE)

    named = {fault: re.findall(r"`(\w+_\w+_\w+)`", told) for fault, told in faults}

    assert len(named) > 50
    assert [fault for fault, names in named.items() if not names] == []
    assert {name for names in named.values() for name in names} - functions() == set()


def _resolves(page: Path, link: str) -> bool:
    path, _, anchor = link.partition("#")
    target = (page.parent / path).resolve() if path else page
    return target.exists() and (not anchor or anchor in anchors_of(target))
