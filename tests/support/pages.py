"""The pages of the docs as values: their fenced blocks, headings and links."""

import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]

_FENCE: Final = re.compile(r"^```(\w*)$")
_NOT_RUN: Final = re.compile(r"^<!-- not run: (.+?) -->$")
_FILE: Final = re.compile(r"^# ([\w./-]+\.\w+)$")
_HEADING: Final = re.compile(r"^#+ (.+)$")
_LINK: Final = re.compile(r"\]\(([^)\s]+)\)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A fenced block. `line` is where its text begins, from 1; `not_run` is the reason that stands before it."""

    language: str
    text: str
    line: int
    not_run: str | None

    @property
    def file(self) -> str | None:
        """The file that the block is, if its first line is a comment of one's name."""
        match = _FILE.match(self.text.partition("\n")[0])
        return match[1] if match else None


def pages() -> list[Path]:
    """Every page of the project that people read."""
    return sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


def name_of(page: Path) -> str:
    """How tests call a page."""
    return str(page.relative_to(ROOT))


def blocks_of(page: Path) -> Iterator[Block]:
    """The fenced blocks of a page, in order.

    Raises:
        ValueError: a fence is not closed.
    """
    language: str | None = None
    begin, text, reason = 0, "", None
    for number, line in enumerate(page.read_text().splitlines(), start=1):
        fence = _FENCE.match(line)
        if language is None and fence:
            language, begin, text = fence[1], number + 1, ""
        elif language is not None and fence:
            yield Block(language=language, text=text, line=begin, not_run=reason)
            language, reason = None, None
        elif language is not None:
            text += line + "\n"
        elif line:
            said = _NOT_RUN.match(line)
            reason = said[1] if said else None
    if language is not None:
        raise ValueError(f"{page}:{begin}: this block is not closed")


def anchors_of(page: Path) -> set[str]:
    """The headings of a page as a link names them."""
    headings = (_HEADING.match(line) for line in _prose(page).splitlines())
    return {re.sub(r"[^\w\- ]", "", heading[1]).lower().replace(" ", "-") for heading in headings if heading}


def links_of(page: Path) -> set[str]:
    """Where a page points to within the project: `path`, `path#anchor` or `#anchor`."""
    return {link for link in _LINK.findall(_prose(page)) if "://" not in link}


def functions() -> set[str]:
    """The names of all tests, without their prefix, and of the checks of the kit."""
    sources = subprocess.run(
        ["git", "grep", "-hoE", "--untracked", r"def [a-z_0-9]+", "--", "tests", "src/klokka/tck/checks"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return {line.removeprefix("def ").removeprefix("test_") for line in sources.stdout.splitlines()}


def _prose(page: Path) -> str:
    return re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
