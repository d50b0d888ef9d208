"""The schema of the file: where it stands, and how it is brought to this code's version."""

import re
import sqlite3
import time
from collections.abc import Iterator
from typing import Final

from klokka.errors import SchemaMismatch
from klokka.spi.life import Migrations
from klokka.stores._sql.migrations import Migration, migrations, pending, unrecorded

STEPS: Final = migrations("klokka.stores.sqlite")
_LEDGER: Final = """create table if not exists klokka_migrations (
    version integer primary key,
    name text not null,
    checksum text not null,
    applied_at integer not null
) strict;
"""
_TABLES: Final = frozenset(re.findall(r"^create table (\w+)", "\n".join(step.text for step in STEPS), re.MULTILINE))


def standing(connection: sqlite3.Connection, path: str) -> Migrations:
    """Where the schema of `path` stands; changes nothing.

    Raises:
        SchemaMismatch: newer than this code, foreign or damaged.
    """
    todo = _pending(connection, path)
    return Migrations(current=len(STEPS) - len(todo), latest=len(STEPS))


def migrate(connection: sqlite3.Connection, path: str) -> Migrations:
    """Applies what is pending, each step in a transaction of its own, and returns where the schema stood before.

    Of many processes at once one applies a step and the others find it applied. Interrupted, it goes on at the next.

    Raises:
        SchemaMismatch: newer than this code, foreign or damaged.
        sqlite3.OperationalError: another process holds the writer's place; may be repeated.
    """
    before = standing(connection, path)
    while _pending(connection, path):
        connection.execute("begin immediate")
        try:
            if todo := _pending(connection, path):
                _apply(connection, todo[0])
            connection.execute("commit")
        finally:
            if connection.in_transaction:
                connection.execute("rollback")
    return before


def script() -> str:
    """All steps as one script, the records of the steps included, for people who apply it by hand."""
    steps = "\n".join(
        f"-- {step.version:04d}_{step.name}\n{step.text}\n"
        "insert into klokka_migrations (version, name, checksum, applied_at)\n"
        f"values ({step.version}, '{step.name}', '{step.checksum}', strftime('%s', 'now') * 1000000);\n"
        for step in STEPS
    )
    return f"begin immediate;\n{_LEDGER}\n{steps}commit;\n"


def _pending(connection: sqlite3.Connection, path: str) -> list[Migration]:
    present = {name for (name,) in connection.execute("select name from sqlite_master where type = 'table'")}
    if "klokka_migrations" not in present:
        if foreign := sorted(present & _TABLES):
            raise SchemaMismatch(
                f"{path} has a table {foreign[0]} and no klokka_migrations: it is not Klokka's. Give another path."
            )
        return list(STEPS)
    try:
        applied = dict(connection.execute("select version, checksum from klokka_migrations"))
    except sqlite3.OperationalError as error:
        raise SchemaMismatch(f"{path}: its klokka_migrations is not Klokka's ({error}). Give another path.") from error
    if not applied and (ours := sorted(present & _TABLES)):
        raise unrecorded(path, ours[0], "every table klokka_…")
    todo = list(pending(applied, STEPS, path))
    if not todo and (missing := sorted(_TABLES - present)):
        raise SchemaMismatch(f"{path} is damaged: the table {missing[0]} is missing. Restore a backup.")
    return todo


def _apply(connection: sqlite3.Connection, step: Migration) -> None:
    for statement in _statements(_LEDGER + step.text):
        connection.execute(statement)
    connection.execute(
        "insert into klokka_migrations (version, name, checksum, applied_at) values (?, ?, ?, ?)",
        (step.version, step.name, step.checksum, time.time_ns() // 1000),
    )


def _statements(text: str) -> Iterator[str]:
    """Statement by statement: `executescript` would commit first, and a step would not be one transaction."""
    begun = ""
    for line in text.splitlines(keepends=True):
        begun += line
        if sqlite3.complete_statement(begun):
            yield begun
            begun = ""
