"""Connections to the file, with all that the store depends on set on each of them [life.isolation]."""

import sqlite3
from pathlib import Path
from typing import Final

from klokka.errors import StoreError, StoreUnavailable
from klokka.stores.sqlite.durability import SYNCHRONOUS, Durability

OLDEST: Final = (3, 37, 0)
_SETTINGS: Final = (
    "pragma foreign_keys = off",
    "pragma recursive_triggers = off",
    "pragma ignore_check_constraints = off",
    "pragma case_sensitive_like = off",
    "pragma read_uncommitted = off",
    "pragma locking_mode = normal",
    "pragma wal_autocheckpoint = 1000",
    "pragma cache_size = -16384",
    "pragma fullfsync = on",  # macOS alone: without it a disk may still hold a commit in its cache
)


def check_library(version: tuple[int, ...] = sqlite3.sqlite_version_info) -> None:
    """Returns if this SQLite has what the schema needs.

    Raises:
        StoreError: it is older than 3.37, which is the first with STRICT tables.
    """
    if version < OLDEST:
        found = ".".join(map(str, version))
        raise StoreError(
            f"Python's SQLite library is {found}; Klokka needs 3.37 or newer. "
            f"Use a Python that is built with a newer one: `python -c 'import sqlite3; print(sqlite3.sqlite_version)'`."
        )


def check_path(path: str) -> None:
    """Returns if a database may stand at `path`.

    Raises:
        StoreUnavailable: its directory is missing, or it is itself one.
    """
    if Path(path).is_dir():
        raise StoreUnavailable(f"{path} is a directory. Give the path of a file in it, such as {path}/jobs.db.")
    directory = Path(path).parent
    if not directory.is_dir():
        raise StoreUnavailable(f"{path}: the directory {directory} does not exist. Create it, or give another path.")


def connect(path: str, durability: Durability) -> sqlite3.Connection:
    """A connection in autocommit mode, in which transactions begin and end where we say so.

    Its own waiting is cut to a few milliseconds: the bound is kept by `Patience`.

    Raises:
        sqlite3.Error: whatever keeps it from being opened, a lock included.
    """
    connection = sqlite3.connect(path, timeout=0.003, isolation_level=None, cached_statements=256)
    try:
        for setting in _SETTINGS:
            connection.execute(setting)
        _write_ahead(connection, path)
        connection.execute(f"pragma synchronous = {SYNCHRONOUS[durability]}")
    except BaseException:
        connection.close()
        raise
    return connection


def _write_ahead(connection: sqlite3.Connection, path: str) -> None:
    (mode,) = connection.execute("pragma journal_mode").fetchone()
    if mode != "wal":
        (mode,) = connection.execute("pragma journal_mode = wal").fetchone()
    if mode != "wal":
        raise StoreUnavailable(
            f"{path}: SQLite keeps journal mode {mode!r} instead of 'wal'. Its file system lacks shared memory, "
            f"as network shares do. Put the file on a local disk."
        )
