"""The table of clauses, the checks that prove them and the saboteurs that prove the checks.

`python -m tests.tck.coverage` writes it into docs/contract-coverage.md.
"""

from klokka.tck.check import Check
from klokka.tck.checks import every_check


def checks_of(clause: str) -> list[Check]:
    """The checks that cite the clause, plain examples first."""
    of_clause = [check for check in every_check() if clause in check.clauses]
    return sorted(of_clause, key=lambda check: check.layer != "example")
