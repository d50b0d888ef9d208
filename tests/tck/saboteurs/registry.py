"""Which store breaks which clause.

A saboteur is a store with one fault. A class over one of our stores is that store with the fault; a class over none is
a fault of verbs that any store may have, and becomes one saboteur of each store; `edited` is SQLite with a statement
that says something else.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any

from klokka.cli.tck_subjects import memory_subjects, sqlite_subjects
from klokka.stores.memory.store import MemoryStore
from klokka.stores.sqlite.store import SqliteStore
from klokka.stores.sqlite.transaction import Transaction
from klokka.tck.subject import Factory

BOUND = timedelta(milliseconds=300)
PATIENCE = timedelta(milliseconds=400)
FACTORIES = {
    MemoryStore: partial(memory_subjects, bound=BOUND, patience=PATIENCE),
    SqliteStore: partial(sqlite_subjects, bound=BOUND, patience=PATIENCE),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Saboteur:
    """A store that breaks `clause`, on `base`, one of our right stores."""

    clause: str
    name: str
    base: str
    factory: Factory

    @property
    def words(self) -> str:
        """Its name as a phrase: what it does wrong."""
        return re.sub(r"(?<!^)(?=[A-Z])", " ", self.name).lower()


SABOTEURS: list[Saboteur] = []
EDITS: list[tuple[str, tuple[str, str]]] = []
"""The edits of SQLite's statements, each with the name of its saboteur."""


def breaks(clause: str, factory: Factory | None = None) -> Callable[[type], type]:
    """Registers a faulty store, or a fault of any store's verbs, as breaking `clause`."""

    def register(fault: type) -> type:
        bases = [base for base in FACTORIES if issubclass(fault, base)]
        for base in bases or FACTORIES:
            made = fault if bases else type(fault.__name__, (fault, base), {})
            name = base.__name__.removesuffix("Store").lower()
            given = factory or FACTORIES[base](made)
            SABOTEURS.append(Saboteur(clause=clause, name=fault.__name__, base=name, factory=given))
        return fault

    return register


def edited(clause: str, name: str, *edits: tuple[str, str]) -> None:
    """Registers SQLite with each first text in its statements replaced by the second, as breaking `clause`."""

    EDITS.extend((name, edit) for edit in edits)

    def texted(verb: Callable[[Transaction], Any], tx: Transaction) -> Any:
        execute, executemany = tx.execute, tx.executemany
        tx.execute = lambda sql, *given: execute(_replaced(sql, edits), *given)
        tx.executemany = lambda sql, *given: executemany(_replaced(sql, edits), *given)
        try:
            return verb(tx)
        finally:
            tx.execute, tx.executemany = execute, executemany

    class Edited(SqliteStore):
        def _write(self, verb: Callable[[Transaction], Any]) -> Any:
            return super()._write(partial(texted, verb))

        def _read(self, verb: Callable[[Transaction], Any]) -> Any:
            return super()._read(partial(texted, verb))

    Edited.__name__ = name
    breaks(clause)(Edited)


def _replaced(sql: str, edits: tuple[tuple[str, str], ...]) -> str:
    for old, new in edits:
        sql = sql.replace(old, new)
    return sql
