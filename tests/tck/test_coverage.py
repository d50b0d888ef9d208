"""The page of the contract's coverage is what the kit and its saboteurs are."""

from tests.tck.coverage import PAGE, page
from tests.tck.saboteurs import SABOTEURS


def test_the_page_is_as_it_should_be() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run python -m tests.tck.coverage"


def test_there_are_saboteurs_of_both_stores() -> None:
    bases = [saboteur.base for saboteur in SABOTEURS]

    assert bases.count("memory") > 100
    assert bases.count("sqlite") > 100
