"""The table of clauses, the checks that prove them and the saboteurs that prove the checks.

`python -m tests.tck.coverage` writes it into docs/contract-coverage.md.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from klokka.tck.check import Check
from klokka.tck.checks import every_check
from klokka.tck.clauses import text_of
from klokka.tck.levels import LEVELS
from tests.tck.saboteurs import SABOTEURS

PAGE: Final = Path(__file__).parents[2] / "docs" / "contract-coverage.md"


def checks_of(clause: str) -> list[Check]:
    """The checks that cite the clause, plain examples first."""
    of_clause = [check for check in every_check() if clause in check.clauses]
    return sorted(of_clause, key=lambda check: check.layer != "example")


def page() -> str:
    """The page as it should be."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    checks = every_check()
    clauses = {clause for check in checks for clause in check.clauses}
    yield "# The contract's coverage"
    yield ""
    yield "<!-- Written by `python -m tests.tck.coverage`; a test keeps it so. -->"
    yield ""
    yield (
        f"The [contract](contract.md) has {len(clauses)} clauses, and the kit {len(checks)} checks for them. Each check is proved in "
        f"its turn by saboteurs: {len(SABOTEURS)} stores that break one clause each, on the memory store or on SQLite, where races are "
        f"races. Every one of them is caught by a check that cites its clause."
    )
    for level in LEVELS:
        yield ""
        yield f"## {level.name.capitalize()}"
        yield ""
        yield "| Clause | Checks | Caught stores |"
        yield "|---|---|---|"
        for clause in sorted(clause for clause in clauses if level.has(clause)):
            told = text_of(clause).replace("|", "\\|")
            yield f"| **{clause}**<br>{told} | {'<br>'.join(_checks(clause))} | {'<br>'.join(_saboteurs(clause))} |"


def _checks(clause: str) -> Iterator[str]:
    for check in checks_of(clause):
        layer = "" if check.layer == "example" else f" *({check.layer})*"
        yield f"{check.name.replace('_', ' ')}{layer}"


def _saboteurs(clause: str) -> Iterator[str]:
    bases: dict[str, list[str]] = {}
    for saboteur in SABOTEURS:
        if saboteur.clause == clause:
            bases.setdefault(saboteur.words, []).append(saboteur.base)
    return (f"{words} *({', '.join(of_words)})*" for words, of_words in bases.items())


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
