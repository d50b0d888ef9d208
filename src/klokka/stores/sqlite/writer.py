"""The lane of verbs that write: one transaction for all that gathered, each verb atomic within it."""

import os
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from klokka.core.clocks import Clock
from klokka.errors import StoreUnavailable
from klokka.stores.sqlite.bell import Bell
from klokka.stores.sqlite.failures import broken_commit, busy, translated
from klokka.stores.sqlite.lane import Call
from klokka.stores.sqlite.patience import Patience
from klokka.stores.sqlite.transaction import Transaction


@dataclass(slots=True, kw_only=True)
class Writer:
    """Performs verbs under the writer's place of the database."""

    path: str
    open: Callable[[], sqlite3.Connection]
    clock: Clock
    patience: Patience
    bell: Bell
    _file: tuple[int, int] | None = field(default=None, init=False)

    def connect(self) -> sqlite3.Connection:
        """A connection to a database whose schema is this code's."""
        connection = self.open()
        self._file = _identity(self.path)
        return connection

    def disconnect(self, connection: sqlite3.Connection) -> None:
        """Closes the connection, which writes the -wal back if it was the last one."""
        self.bell.close()
        connection.close()

    def perform(self, connection: sqlite3.Connection, calls: Sequence[Call]) -> None:
        """Gives every call its answer; all that succeed are committed when this returns."""
        begun = self._begin(connection, calls)
        if not begun or self._moved(connection, begun):
            return
        tx = Transaction(connection, self.clock)
        try:
            self._run(connection, tx, begun)
        except _RolledBackError:
            for call in begun:
                self.perform(connection, [call])
            return
        if connection.in_transaction:
            self._commit(connection, tx, begun)

    def _begin(self, connection: sqlite3.Connection, calls: Sequence[Call]) -> Sequence[Call]:
        """The calls whose transaction has begun. The others have waited for as long as the bound says."""
        waiting = list(calls)
        while waiting:
            try:
                self.patience.wait(lambda: connection.execute("begin immediate"), since=waiting[0].since)
            except sqlite3.Error as error:
                late = [call for call in waiting if not busy(error) or self.patience.over(call.since)]
                for call in late:
                    call.error = translated(error, self.path)
                waiting = waiting[len(late) :]  # the longest waiting stand in front
            else:
                break
        return waiting

    def _moved(self, connection: sqlite3.Connection, calls: Sequence[Call]) -> bool:
        """Whether the file has gone from its path, so that a commit would be acknowledged and seen by nobody.

        SQLite looks for that itself, but not in WAL mode. The look is taken under the lock and costs a microsecond.
        """
        if _identity(self.path) == self._file:
            return False
        connection.execute("rollback")
        for call in calls:
            call.error = StoreUnavailable(
                f"{self.path}: the file was moved, deleted or replaced under the open store. Nothing was written. "
                "Close the store and open it again where the file is now."
            )
        return True

    def _run(self, connection: sqlite3.Connection, tx: Transaction, calls: Sequence[Call]) -> None:
        if len(calls) == 1:
            self._run_alone(connection, tx, calls[0])
            return
        for call in calls:
            connection.execute("savepoint verb")
            try:
                call.value = call.verb(tx)
            except BaseException as error:
                if not connection.in_transaction:
                    # SQLite gave up the whole transaction, neighbours included: each is due a try of its own.
                    raise _RolledBackError from error
                connection.execute("rollback to verb")
                call.error = translated(error, self.path)
            connection.execute("release verb")

    def _run_alone(self, connection: sqlite3.Connection, tx: Transaction, call: Call) -> None:
        try:
            call.value = call.verb(tx)
        except BaseException as error:
            call.error = translated(error, self.path)
            if connection.in_transaction:
                connection.execute("rollback")

    def _commit(self, connection: sqlite3.Connection, tx: Transaction, calls: Sequence[Call]) -> None:
        try:
            connection.execute("commit")
        except sqlite3.Error as error:
            for call in calls:
                call.error = call.error or broken_commit(error, self.path)
            if connection.in_transaction:
                connection.execute("rollback")
        else:
            if tx.rung:
                self.bell.ring(tx.last_id)


class _RolledBackError(Exception):
    """The transaction of a whole group is gone, and nothing of it was written."""


def _identity(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)  # noqa: PTH116  a Path costs three times as much, for each commit
    except OSError:
        return None
    return found.st_dev, found.st_ino
