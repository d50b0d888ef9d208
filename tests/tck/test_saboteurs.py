"""The kit catches a store that breaks a clause, by a check that cites this clause."""

from datetime import timedelta
from importlib.resources import files

import pytest

from klokka.stores._sql.statements import statement
from klokka.tck.report import Failed
from klokka.tck.run import run_check
from tests.tck.coverage import checks_of
from tests.tck.saboteurs import SABOTEURS
from tests.tck.saboteurs.registry import EDITS, Saboteur
from tests.tck.test_clauses import of_the_kit


@pytest.mark.parametrize(
    "saboteur", [pytest.param(each, id=f"{each.clause}-{each.name}-{each.base}") for each in SABOTEURS]
)
async def test_a_saboteur_is_caught_by_a_check_of_the_clause_that_it_breaks(saboteur: Saboteur) -> None:
    of_clause = checks_of(saboteur.clause)

    for check in of_clause:
        bound = timedelta(seconds=15 if check.layer == "example" else 75)  # which a store that hangs has to wait out
        result = await run_check(check, saboteur.factory, bound=bound)
        if isinstance(result, Failed) and saboteur.clause in result.clauses:
            return
    pytest.fail(f"none of {[check.id for check in of_clause]} sees it")


def test_every_clause_has_a_saboteur() -> None:
    assert {saboteur.clause for saboteur in SABOTEURS} == of_the_kit()


def test_every_saboteur_has_a_name_of_its_own() -> None:
    named = [(saboteur.name, saboteur.base) for saboteur in SABOTEURS]

    assert len(set(named)) == len(named)


@pytest.mark.parametrize(("name", "edit"), EDITS, ids=[f"{name}-{place}" for place, (name, _) in enumerate(EDITS)])
def test_an_edit_of_a_statement_still_changes_one(name: str, edit: tuple[str, str]) -> None:
    folder = files("klokka.stores.sqlite").joinpath("sql")
    statements = [statement("klokka.stores.sqlite", file.name.removesuffix(".sql")) for file in folder.iterdir()]

    assert any(edit[0] in text for text in statements), f"{name}: no statement says {edit[0]!r} any more"
