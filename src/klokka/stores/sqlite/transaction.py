"""What a verb works with: a connection inside of a transaction, and the store's clock."""

import sqlite3
from collections.abc import Callable
from typing import Any

from klokka.core.clocks import Clock
from klokka.core.instants import micros


class Transaction:
    """Statements within one transaction. Whether it commits is not the verb's to decide."""

    __slots__ = ("_clock", "execute", "executemany", "last_id", "rung")

    def __init__(self, connection: sqlite3.Connection | sqlite3.Cursor, clock: Clock) -> None:
        self._clock = clock
        self.execute: Callable[..., sqlite3.Cursor] = connection.execute
        self.executemany: Callable[..., sqlite3.Cursor] = connection.executemany
        self.rung = False
        """Set by verbs that make work claimable: a hint is owed after the commit [wakeups.commit]."""
        self.last_id = 0
        """The last id given here; the hint carries it, so that who hears it need not look for the same insert."""

    def now(self) -> int:
        """The store's clock in microseconds, read when the lock is held already [time.store-clock]."""
        return micros(self._clock())

    def changed(self, statement: str, parameters: Any) -> bool:
        """Whether a statement for one row found it."""
        return self.execute(statement, parameters).rowcount > 0

    def value(self, statement: str, parameters: Any = ()) -> Any:
        """The first column of the first row, or None."""
        row = self.execute(statement, parameters).fetchone()
        return None if row is None else row[0]
