"""The lane of verbs that only look, so that a list of jobs never waits behind a write."""

import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from klokka.core.clocks import Clock
from klokka.stores.sqlite.failures import translated
from klokka.stores.sqlite.lane import Call
from klokka.stores.sqlite.patience import Patience
from klokka.stores.sqlite.transaction import Transaction


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """Performs each verb on a snapshot of its own, which ends with it [query.pure]."""

    path: str
    open: Callable[[], sqlite3.Connection]
    clock: Clock
    patience: Patience

    def connect(self) -> sqlite3.Connection:
        """A connection that SQLite itself keeps from writing."""
        connection = self.open()
        connection.execute("pragma query_only = on")
        return connection

    def disconnect(self, connection: sqlite3.Connection) -> None:
        """Closes the connection."""
        connection.close()

    def perform(self, connection: sqlite3.Connection, calls: Sequence[Call]) -> None:
        """Gives every call its answer."""
        tx = Transaction(connection, self.clock)
        for call in calls:
            try:
                call.value = self.patience.wait(partial(_look, connection, tx, call.verb), since=call.since)
            except BaseException as error:
                call.error = translated(error, self.path)


def _look(connection: sqlite3.Connection, tx: Transaction, verb: Callable[[Transaction], object]) -> object:
    connection.execute("begin")
    try:
        return verb(tx)
    finally:
        if connection.in_transaction:
            connection.execute("rollback")
