"""What a handle was made with, and how a connection comes of it."""

import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from klokka.core.clocks import Clock
from klokka.spi.life import Migrations
from klokka.stores.sqlite.connection import check_library, check_path, connect
from klokka.stores.sqlite.durability import Durability
from klokka.stores.sqlite.failures import translated
from klokka.stores.sqlite.migrator import STEPS, migrate, standing
from klokka.stores.sqlite.patience import Patience

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What a handle was made with, and shares with its further handles."""

    path: str
    clock: Clock
    durability: Durability
    patience: Patience

    def connect(self) -> sqlite3.Connection:
        """A connection, after waiting for the locks of others up to the bound.

        Raises:
            StoreError: or one of its kinds.
        """
        check_library()
        check_path(self.path)
        return self._patiently(lambda: connect(self.path, self.durability))

    def connect_migrated(self) -> sqlite3.Connection:
        """A connection to a file whose schema is this code's.

        Raises:
            StoreError: or one of its kinds.
        """
        connection = self.connect()
        try:
            self._patiently(lambda: migrate(connection, self.path))
        except BaseException:
            connection.close()
            raise
        return connection

    def migrate(self) -> Migrations:
        """Brings the schema to this code's version; where it stood before.

        Raises:
            StoreError: or one of its kinds.
        """
        with closing(self.connect()) as connection:
            return self._patiently(lambda: migrate(connection, self.path))

    def standing(self) -> Migrations:
        """Where the schema stands. Nothing is changed: no setting is made, and a missing file stays missing.

        Raises:
            StoreError: or one of its kinds.
        """
        check_path(self.path)
        if not Path(self.path).exists():
            return Migrations(current=0, latest=len(STEPS))
        with closing(sqlite3.connect(self.path, timeout=0.003, isolation_level=None)) as connection:
            return self._patiently(lambda: standing(connection, self.path))

    def _patiently(self, attempt: Callable[[], T]) -> T:
        try:
            return self.patience.wait(attempt, since=time.monotonic())
        except sqlite3.Error as error:
            raise translated(error, self.path) from error
