"""What the driver's errors mean here. No exception of sqlite3 leaves the store but as the cause of one of ours."""

import sqlite3
from collections.abc import Callable
from typing import Final

from klokka.errors import (
    Busy,
    InvalidInput,
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

_BY_CODE: Final[dict[int, tuple[_Made, str]]] = {
    sqlite3.SQLITE_BUSY: (Busy, "another connection holds the writer's place. Nothing was written; try again"),
    sqlite3.SQLITE_LOCKED: (Busy, "another statement of this connection holds a table. Try again"),
    sqlite3.SQLITE_PROTOCOL: (Busy, "others kept it locked while it was opened. Nothing was written; try again"),
    sqlite3.SQLITE_FULL: (StoreFull, "no room is left on the disk or in the quota. Nothing was written; make room"),
    sqlite3.SQLITE_IOERR_SHMSIZE: (StoreFull, "no room is left for the -shm file. Nothing was written; make room"),
    sqlite3.SQLITE_READONLY: (
        StoreReadOnly,
        "it cannot be written. Klokka needs to write the file, its -wal and -shm, and the directory",
    ),
    sqlite3.SQLITE_READONLY_DBMOVED: (
        StoreUnavailable,
        "the file was moved or deleted under the open store. Close it and open it at its new place",
    ),
    sqlite3.SQLITE_CANTOPEN: (StoreUnavailable, "it cannot be opened. Check that it and its directory may be read"),
    sqlite3.SQLITE_PERM: (StoreUnavailable, "access is denied. Check the permissions of the file"),
    sqlite3.SQLITE_NOTADB: (SchemaMismatch, "it is not an SQLite database, or is encrypted. Give another path"),
    sqlite3.SQLITE_CORRUPT: (
        SchemaMismatch,
        "it is damaged. Stop all users, keep a copy, and restore a backup or try sqlite3's .recover",
    ),
    sqlite3.SQLITE_TOOBIG: (LimitExceeded, "a value is larger than this build of SQLite takes"),
    sqlite3.SQLITE_IOERR: (StoreUnavailable, "the disk refuses to read or write. See the system's log"),
}


def busy(error: sqlite3.Error) -> bool:
    """Whether somebody else's lock is the reason, so that patience may help."""
    return _code(error) & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL)


def translated(error: BaseException, path: str) -> BaseException:
    """The project's error for one that the driver raised, with it as the cause; any other comes back as it is."""
    match error:
        case sqlite3.Error():
            made = _made(error, path)
        case UnicodeEncodeError():
            made = InvalidInput("a text has a lone surrogate, which no store can keep. Replace it.")
        case OverflowError():
            made = InvalidInput("a number is outside of -2**63 to 2**63 - 1, which is all that SQLite can keep.")
        case _:
            return error
    made.__cause__ = error
    return made


def broken_commit(error: sqlite3.Error, path: str) -> BaseException:
    """What a failed COMMIT means: written or not is known only where SQLite says that it rolled back."""
    if _code(error) & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY):
        return translated(error, path)
    made = UnknownOutcome(f"{path}: the commit failed half-way ({error}). It may or may not have happened; look first.")
    made.__cause__ = error
    return made


def _made(error: sqlite3.Error, path: str) -> KlokkaError:
    code = _code(error)
    if rule := _BY_CODE.get(code) or _BY_CODE.get(code & 0xFF):
        kind, advice = rule
        return kind(f"{path}: {advice} ({error}).")
    if "no such table" in str(error) or "no such column" in str(error):
        return SchemaMismatch(f"{path}: a table of Klokka's is missing or altered ({error}). Restore a backup.")
    return StoreError(f"{path}: SQLite refused ({error}).")


def _code(error: sqlite3.Error) -> int:
    return getattr(error, "sqlite_errorcode", 0)
