"""The kit catches a store that breaks a clause, by a check that cites this clause."""

from datetime import timedelta

import pytest

from klokka.stores.memory.store import MemoryStore
from klokka.tck.checks import every_check
from klokka.tck.report import Failed
from klokka.tck.run import run_check
from tests.support.subjects import memory_factory
from tests.tck.saboteurs import SABOTEURS
from tests.tck.test_clauses import of_the_kit

UNBROKEN = {"wakeups.recover"}
"""What this store cannot break, since it has no connection that could drop."""


@pytest.mark.parametrize(
    ("clause", "saboteur"), [pytest.param(*pair, id=f"{pair[0]}-{pair[1].__name__}") for pair in SABOTEURS]
)
async def test_a_saboteur_is_caught_by_a_check_of_the_clause_that_it_breaks(
    clause: str, saboteur: type[MemoryStore]
) -> None:
    factory = memory_factory(saboteur, patience=timedelta(milliseconds=300))
    of_clause = [check for check in every_check() if clause in check.clauses]

    for check in of_clause:
        if isinstance(await run_check(check, factory, bound=timedelta(seconds=10)), Failed):
            return
    pytest.fail(f"none of {[check.id for check in of_clause]} sees it")


def test_every_clause_has_a_saboteur() -> None:
    assert {clause for clause, _ in SABOTEURS} == of_the_kit() - UNBROKEN
