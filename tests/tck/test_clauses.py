"""The contract's text, its protocols and the kit name the same clauses."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import klokka.spi
from klokka.tck.checks import every_check

CLAUSE = re.compile(r"\[([a-z]+\.[a-z-]+)\]")
CONTRACT = Path(__file__).parents[2] / "docs" / "contract.md"


def of_the_text() -> set[str]:
    return set(re.findall(r"`\[([a-z]+\.[a-z-]+)\]`", CONTRACT.read_text(encoding="utf-8")))


def of_the_protocols() -> set[str]:
    return {clause for text in docstrings() for clause in CLAUSE.findall(text)}


def of_the_kit() -> set[str]:
    return {clause for check in every_check() for clause in check.clauses}


def docstrings() -> Iterator[str]:
    for folder in klokka.spi.__path__:
        for module in Path(folder).glob("*.py"):
            for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                    yield ast.get_docstring(node) or ""


def test_every_clause_of_the_contract_stands_at_the_verb_that_it_binds() -> None:
    assert of_the_protocols() == of_the_text()


def test_every_clause_of_the_contract_is_proved_by_a_check_and_no_other_is_cited() -> None:
    assert of_the_kit() == of_the_text()


def test_the_contract_has_clauses() -> None:
    assert {"claim.exclusive", "schedule.upsert-same", "lease.cursor"} <= of_the_text()


def test_every_check_cites_each_of_its_clauses_once() -> None:
    for check in every_check():
        assert check.clauses, check.id
        assert len(set(check.clauses)) == len(check.clauses), check.id
