"""Factories of the stores that the conformance kit runs against."""

from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from datetime import timedelta
from typing import Any

from klokka.core.clocks import ManualClock
from klokka.stores.memory.store import MemoryStore
from klokka.stores.memory.transactions import MemoryTransaction
from klokka.tck.subject import Factory, Subject

BOUND = timedelta(milliseconds=300)
"""How long a store in these tests waits for somebody else, so that waiting it out takes no time worth naming."""


def memory_factory(kind: Callable[..., MemoryStore] = MemoryStore) -> Factory:
    """Fresh memory stores with a manual clock, of a subclass where a test says so."""

    @asynccontextmanager
    async def memory() -> AsyncGenerator[Subject]:
        clock = ManualClock()
        store = kind(clock=clock, bound=BOUND)

        @asynccontextmanager
        async def transaction() -> AsyncGenerator[MemoryTransaction]:
            with store.begin() as tx:
                yield tx

        @asynccontextmanager
        async def savepoint(tx: MemoryTransaction) -> AsyncGenerator[None]:
            with tx.savepoint():
                yield

        @contextmanager
        def sync_savepoint(tx: MemoryTransaction) -> Generator[None]:
            with tx.savepoint():
                yield

        @asynccontextmanager
        async def failed() -> AsyncGenerator[Any]:
            tx = store.begin()
            tx.fail()
            yield tx
            tx.rollback()

        yield Subject(
            store=store,
            advance=clock.advance,
            transaction=transaction,
            savepoint=savepoint,
            sync_transaction=store.begin,
            sync_savepoint=sync_savepoint,
            unusable=failed,
        )

    return memory


FACTORIES: dict[str, Factory] = {"memory": memory_factory()}
