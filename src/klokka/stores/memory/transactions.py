"""Transactions of the caller's own: what is enqueued in one is seen by nobody until it commits."""

import enum
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Self

from klokka.core.ids import JobId
from klokka.core.instants import aware
from klokka.core.records import EnqueueResult, NewJob
from klokka.errors import MisuseError, WrongTransaction
from klokka.stores.memory.data import KeyReserved, MemoryData
from klokka.stores.memory.handle import LIMITS, Handle, busy
from klokka.stores.memory.rows import JobRow


class _Phase(enum.Enum):
    OPEN = "open"
    FAILED = "failed"
    ENDED = "ended"


class MemoryTransaction:
    """Commits at the normal end of its `with` block and rolls back when an exception leaves it.

    Its unique keys are reserved from the moment of the enqueue: others wait for its end, up to the store's bound.
    """

    def __init__(self, data: MemoryData) -> None:
        self._data = data
        self._phase = _Phase.OPEN
        self._jobs: list[JobRow] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if error is not None:
            self.rollback()
        elif self._phase is not _Phase.ENDED:
            self.commit()

    def commit(self) -> None:
        """Shows the jobs to everybody at once [tx.atomic].

        Raises:
            MisuseError: it has failed, and so was rolled back; or it had ended before.
        """
        with self._data.lock:
            phase, jobs = self._phase, self._jobs
            self._end()
            if phase is not _Phase.OPEN:
                raise MisuseError(f"the transaction cannot commit: it had {phase.value}. Its jobs are not stored.")
            for row in jobs:
                self._data.table.add(row)
            if jobs:
                self._data.work.ring()

    def rollback(self) -> None:
        """Forgets the jobs; idempotent."""
        with self._data.lock:
            self._end()

    def fail(self) -> None:
        """Does what an error in a database does: nothing but a rollback is possible from here on [tx.open]."""
        self._phase = _Phase.FAILED

    @contextmanager
    def savepoint(self) -> Generator[None]:
        """Forgets what was enqueued within when an exception leaves it, which also mends a failed transaction."""
        mark, phase = len(self._jobs), self._phase
        try:
            yield
        except BaseException:
            with self._data.lock:
                if self._phase is not _Phase.ENDED:
                    self._forget(mark)
                    self._phase = phase
            raise

    def pending(self, key: str) -> JobId | None:
        """Its own job with this key."""
        return next((row.id for row in self._jobs if row.new.unique_key == key), None)

    def enqueue(self, jobs: Sequence[NewJob], data: MemoryData) -> list[EnqueueResult]:
        """Places the jobs for its commit. The caller holds the lock.

        Raises:
            WrongTransaction: of another store's data, failed or ended.
            KeyReserved: another transaction decides about a key of these jobs.
        """
        if self._data is not data:
            raise WrongTransaction("this transaction belongs to another memory store. Use begin() of this one.")
        if self._phase is not _Phase.OPEN:
            raise WrongTransaction(f"this transaction has {self._phase.value}. Begin another one.")
        return data.place(jobs, aware(data.clock(), "clock"), self._add, self)

    def _add(self, row: JobRow) -> None:
        self._jobs.append(row)
        if row.new.unique_key is not None:
            self._data.reserved[row.new.unique_key] = self

    def _forget(self, mark: int) -> None:
        for row in self._jobs[mark:]:
            if row.new.unique_key is not None:
                del self._data.reserved[row.new.unique_key]
        self._jobs = self._jobs[:mark]
        self._data.settled.ring()

    def _end(self) -> None:
        self._forget(0)
        self._phase = _Phase.ENDED


class Transactions(Handle):
    """Implements `TransactionalStore` and `SyncTransactionalStore` on `MemoryTransaction`."""

    def begin(self) -> MemoryTransaction:
        """A transaction of the caller's own, for one task or thread; it needs no open handle."""
        return MemoryTransaction(self._data)

    async def enqueue_in(self, tx: MemoryTransaction, jobs: Sequence[NewJob]) -> list[EnqueueResult]:
        transaction = checked(tx)
        LIMITS.admit(jobs)
        return await self._settled(lambda _: transaction.enqueue(jobs, self._data))

    def enqueue_in_sync(self, tx: MemoryTransaction, jobs: Sequence[NewJob]) -> list[EnqueueResult]:
        transaction = checked(tx)
        LIMITS.admit(jobs)
        deadline = time.monotonic() + self._data.bound.total_seconds()
        with self._data.settled.heard_by_thread() as settled:
            while True:
                settled.clear()
                try:
                    with self._data.lock:
                        return transaction.enqueue(jobs, self._data)
                except KeyReserved as reserved:
                    if not settled.wait(deadline - time.monotonic()):
                        raise busy(self._data) from reserved


def checked(tx: object) -> MemoryTransaction:
    """`tx`, if it is a transaction of this sort of store.

    Raises:
        WrongTransaction: it is something else.
    """
    if not isinstance(tx, MemoryTransaction):
        raise WrongTransaction(f"the memory store enqueues in its own begin(), not in a {type(tx).__qualname__}.")
    return tx
