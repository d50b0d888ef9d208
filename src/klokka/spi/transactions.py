"""The capability of enqueueing inside the user's own transaction."""

from collections.abc import Sequence
from typing import Any, Protocol, TypeVar, runtime_checkable

from klokka.core.records import EnqueueResult, NewJob


class AsyncTransaction(Protocol):
    """What an asynchronous connection or session looks like from here: its `execute` is awaitable."""

    async def execute(self, statement: Any, /, *args: Any, **kwargs: Any) -> Any: ...


class SyncTransaction(Protocol):
    """What a synchronous connection or session looks like from here: its `commit` is not awaitable."""

    def commit(self) -> None: ...


AsyncTX = TypeVar("AsyncTX", contravariant=True)
SyncTX = TypeVar("SyncTX", contravariant=True)


@runtime_checkable
class TransactionalStore(Protocol[AsyncTX]):
    """A store that writes jobs through the caller's asynchronous connection.

    [tx.atomic] Visible to workers if and only if the caller's transaction commits, savepoints included.
    [tx.hands-off] Never commits, rolls back or re-configures the connection; an own savepoint is no breach.
    [tx.open] Refused is a connection on which the insert would commit by itself, or whose transaction has failed.
    [tx.unique] A key conflict does not poison the transaction and locks no holder; where the holder cannot be seen from
    the caller's snapshot, `Busy` is raised, undone to an own savepoint.
    """

    async def enqueue_in(self, tx: AsyncTX, jobs: Sequence[NewJob]) -> list[EnqueueResult]:
        """Stores `jobs` in the transaction that `tx` is in, by the rules of `enqueue`.

        Raises:
            WrongTransaction: not a connection of this store's sort, closed, or in no transaction.
        """
        ...


@runtime_checkable
class SyncTransactionalStore(Protocol[SyncTX]):
    """The blocking twin of `TransactionalStore`, with its clauses."""

    def enqueue_in_sync(self, tx: SyncTX, jobs: Sequence[NewJob]) -> list[EnqueueResult]:
        """Stores `jobs` in the transaction that `tx` is in, wholly on the caller's thread and connection.

        Needs no open handle and no event loop.

        Raises:
            WrongTransaction: not a connection of this store's sort, closed, or in no transaction.
        """
        ...
