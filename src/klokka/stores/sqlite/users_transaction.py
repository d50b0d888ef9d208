"""Enqueue inside of a transaction of the user's own connection, wholly on the caller's thread."""

import os
import sqlite3
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any, Final

from klokka.core.clocks import Clock
from klokka.core.records import EnqueueResult, NewJob
from klokka.errors import SchemaMismatch, WrongTransaction
from klokka.stores._sql.statements import statement
from klokka.stores.sqlite.failures import translated
from klokka.stores.sqlite.inserts import enqueue
from klokka.stores.sqlite.transaction import Transaction

_DATABASE_FILES: Final = statement("klokka.stores.sqlite", "database_files")
_HOLD_WRITERS_PLACE: Final = statement("klokka.stores.sqlite", "hold_writers_place")
_NEXT: Final = (
    "Execute BEGIN on it first, or connect without isolation_level=None and autocommit=True, and commit afterwards."
)


def enqueue_in(connection: Any, jobs: Sequence[NewJob], *, path: str, clock: Clock) -> list[EnqueueResult]:
    """Stores admitted jobs in the transaction of `connection` [tx.atomic] [tx.hands-off] [tx.open] [tx.unique].

    Raises:
        WrongTransaction: not a connection to this file, closed, another thread's, or it would commit by itself.
        Busy: another connection is writing, or wrote since this transaction first read; undone to our savepoint.
        SchemaMismatch: the file has no schema of ours yet.
    """
    if not isinstance(connection, sqlite3.Connection):
        raise WrongTransaction(
            f"tx is a {type(connection).__name__}; the SQLite store takes a sqlite3.Connection to {path}."
        )
    try:
        cursor = connection.cursor()
        cursor.row_factory = None
        _check(connection, cursor, path)
        cursor.execute(_HOLD_WRITERS_PLACE)
        with _savepoint(cursor):
            return enqueue(Transaction(cursor, clock), jobs)
    except sqlite3.ProgrammingError as error:
        raise WrongTransaction(f"tx cannot be used here: {error}. Give an open connection of this thread.") from error
    except sqlite3.Error as error:
        if "no such table" in str(error):
            raise SchemaMismatch(f"{path} has no tables of Klokka's yet. Open the store once before.") from error
        raise translated(error, path) from error


def _check(connection: sqlite3.Connection, cursor: sqlite3.Cursor, path: str) -> None:
    if not connection.in_transaction and _commits_by_itself(connection):
        raise WrongTransaction(f"tx is in no transaction, and the insert would commit by itself. {_NEXT}")
    (file,) = cursor.execute(_DATABASE_FILES).fetchone()
    if not file or os.path.realpath(os.fsdecode(file)) != path:
        name = os.fsdecode(file) if file else "a database in memory"
        raise WrongTransaction(f"tx is connected to {name}, and this store is {path}. Connect to the store's file.")


def _commits_by_itself(connection: sqlite3.Connection) -> bool:
    """Whether a statement outside of a transaction stands alone.

    The attribute `autocommit` is there from Python 3.12 on; where it is neither True nor False the older
    isolation_level decides, and any text of that lets an insert begin a transaction by itself.
    """
    autocommit = getattr(connection, "autocommit", -1)
    return autocommit is True or (autocommit is not False and connection.isolation_level is None)


@contextmanager
def _savepoint(cursor: sqlite3.Cursor) -> Generator[None]:
    """Undoes what is done within, and nothing more, if it fails; the caller's transaction goes on."""
    cursor.execute("savepoint klokka_enqueue")
    try:
        yield
    except BaseException:
        if cursor.connection.in_transaction:
            cursor.execute("rollback to klokka_enqueue")
            cursor.execute("release klokka_enqueue")
        raise
    cursor.execute("release klokka_enqueue")
