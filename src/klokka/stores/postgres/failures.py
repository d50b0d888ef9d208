"""What the driver's errors mean here. No exception of psycopg leaves the store but as the cause of one of ours."""

from collections.abc import Callable
from typing import Final

import psycopg

from klokka.errors import (
    Busy,
    InvalidInput,
    InvalidTime,
    KlokkaError,
    LimitExceeded,
    SchemaMismatch,
    StoreError,
    StoreFull,
    StoreReadOnly,
    StoreUnavailable,
    UnknownOutcome,
)

_Made = Callable[[str], KlokkaError]

UNSEEN_HOLDER: Final = "KL001"
"""Raised by our own function of that name."""

REPEATABLE: Final = frozenset({"40P01", "40001", "25P03", UNSEEN_HOLDER})
"""The statement was undone whole, and repeated it may well succeed [life.deadlock] [enqueue.unique-race]."""

_BY_STATE: Final[dict[str, tuple[_Made, str]]] = {
    "55P03": (Busy, "somebody else's lock was not released in time. Nothing was written; try again"),
    "57014": (Busy, "the statement took longer than it may. Nothing was written; try again"),
    "40P01": (Busy, "locks kept crossing those of others. Nothing was written; try again"),
    "40001": (Busy, "others kept changing the same rows. Nothing was written; try again"),
    UNSEEN_HOLDER: (Busy, "others kept taking and giving back a unique key. Nothing was written; try again"),
    "25P03": (Busy, "this process was too slow between two statements. Nothing was written; try again"),
    "25P04": (Busy, "the transaction took longer than it may. Nothing was written; try again"),
    "53100": (StoreFull, "no room is left on the server's disk. Nothing was written; make room"),
    "53300": (StoreUnavailable, "the server takes no more connections. Raise max_connections, or use fewer"),
    "57P03": (StoreUnavailable, "the server is starting up or shutting down. Try again"),
    "25006": (StoreReadOnly, "the server or the transaction is read-only. Connect to the primary"),
    "42501": (StoreReadOnly, "this role lacks a right. Grant it, or connect as a role that has it"),
    "3F000": (SchemaMismatch, "the schema is missing. Run `klokka migrate`, or restore a backup"),
    "42P01": (SchemaMismatch, "a table of Klokka's is missing. Restore a backup"),
    "42703": (SchemaMismatch, "a column of Klokka's is missing. Restore a backup"),
    "42883": (SchemaMismatch, "a function of Klokka's is missing. Restore a backup"),
    "XX001": (SchemaMismatch, "the data is damaged. Stop all users, keep a copy, and restore a backup"),
    "22008": (InvalidTime, "a time lies beyond the calendar of the years 1 to 9999"),
    "22015": (InvalidTime, "a length of time is longer than the server can keep"),
    "22021": (InvalidInput, "a text has characters that cannot be stored"),
    "22003": (InvalidInput, "a number is larger than its column takes"),
    "54000": (LimitExceeded, "a value is larger than the server takes"),
}


_ANSWERED: Final = "FATAL:"
"""In what libpq says of a connection that the server itself refused. It gives no code for that, and no more to go by."""


class KeyTakenError(Exception):
    """A live job holds the unique key of the one that was to be live again; the statement was undone."""


def repeatable(error: BaseException) -> bool:
    """Whether the statement or transaction may be run again as it was."""
    return isinstance(error, psycopg.Error) and error.sqlstate in REPEATABLE


def translated(error: BaseException, where: str, *, may_be_done: bool) -> BaseException:
    """The project's error for one that the driver raised, with it as the cause; any other comes back as it is.

    `may_be_done` says whether the work could have been committed when the connection broke.
    """
    match error:
        case psycopg.errors.UniqueViolation():
            made: BaseException = KeyTakenError(str(error))
        case psycopg.errors.CheckViolation() if (error.diag.constraint_name or "").endswith("_calendar"):
            made = InvalidTime(f"{where}: a time lies outside of the years 1 to 9999.")
        case psycopg.Error() if error.sqlstate in _BY_STATE:
            kind, advice = _BY_STATE[error.sqlstate]
            made = kind(f"{where}: {advice} ({_said(error)}).")
        case psycopg.OperationalError() | psycopg.InterfaceError():
            made = _broken(error, where, may_be_done=may_be_done)
        case psycopg.DataError():
            made = InvalidInput(f"{where}: a value cannot be stored ({_said(error)}).")
        case psycopg.Error():
            made = StoreError(f"{where}: PostgreSQL refused ({_said(error)}).")
        case UnicodeEncodeError():
            made = InvalidInput("a text has a lone surrogate, which no store can keep. Replace it.")
        case _:
            return error
    made.__cause__ = error
    return made


def unreachable(error: BaseException, where: str) -> BaseException:
    """What it means that no connection could be made."""
    if _ANSWERED in str(error):
        refused = StoreUnavailable(
            f"{where}: the server took no connection ({_said(error)}). "
            f"Wait if it is about to start or to stop; else correct database, role or password."
        )
        refused.__cause__ = error
        return refused
    made = translated(error, where, may_be_done=False)
    if type(made) is StoreError:
        return translated(psycopg.OperationalError(str(error)), where, may_be_done=False)
    return made


def _broken(error: psycopg.Error, where: str, *, may_be_done: bool) -> KlokkaError:
    if may_be_done:
        return UnknownOutcome(
            f"{where}: the connection broke during a write ({_said(error)}). "
            f"It may or may not have happened; look before you repeat it."
        )
    return StoreUnavailable(
        f"{where}: the server cannot be reached ({_said(error)}). Nothing was written; see that it runs and is at that place."
    )


def _said(error: BaseException) -> str:
    """The first line of what the server or the driver said, which has no passwords."""
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
