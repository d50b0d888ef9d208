"""A caller's own transaction, awaited or blocking, behind one face, so that one check proves both sorts.

A blocking one lives on a thread of its own, since connections like to stay where they were made.
"""

import asyncio
import queue
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

from klokka.core.records import EnqueueResult, NewJob
from klokka.spi.transactions import SyncTransactionalStore, TransactionalStore
from klokka.tck.bench import Bench
from klokka.tck.capabilities import Lacking
from klokka.tck.check import Hand, check

Results = list[EnqueueResult]


class _Undo(Exception):
    """Leaves a transaction or a savepoint so that it is undone."""


@dataclass(frozen=True, slots=True)
class Caller:
    """What a check does inside of an open transaction."""

    enqueue: Callable[[Sequence[NewJob]], Awaitable[Results]]
    enqueue_in_savepoint: Callable[[Sequence[NewJob], bool], Awaitable[Results]]
    """The second argument says whether the savepoint is kept."""
    roll_back: Callable[[], None]
    """Lets the transaction end in a rollback instead of a commit."""


Begin = Callable[[Bench], AbstractAsyncContextManager[Caller]]
"""Begins a transaction. It commits at the normal end, unless `roll_back` was called."""


@asynccontextmanager
async def begin(bench: Bench) -> AsyncGenerator[Caller]:
    """A transaction of whichever sort the subject has."""
    if isinstance(bench.store, TransactionalStore) and bench.subject.transaction is not None:
        sort = begin_awaited
    elif isinstance(bench.store, SyncTransactionalStore) and bench.subject.sync_transaction is not None:
        sort = begin_blocking
    else:
        raise Lacking("it needs a store that enqueues in a caller's transaction, and a factory that gives one")
    async with sort(bench) as caller:
        yield caller


@asynccontextmanager
async def begin_awaited(bench: Bench) -> AsyncGenerator[Caller]:
    """A transaction for `enqueue_in`."""

    async def in_savepoint(tx: object, jobs: Sequence[NewJob], keep: bool) -> Results:
        results: Results = []
        with suppress(_Undo):
            async with bench.savepoint(tx):
                results = await bench.tx.enqueue_in(tx, jobs)
                if not keep:
                    raise _Undo
        return results

    undo = threading.Event()
    with suppress(_Undo):
        async with bench.transaction() as tx:
            yield Caller(
                lambda jobs: bench.tx.enqueue_in(tx, jobs), lambda jobs, keep: in_savepoint(tx, jobs, keep), undo.set
            )
            if undo.is_set():
                raise _Undo


@asynccontextmanager
async def begin_blocking(bench: Bench) -> AsyncGenerator[Caller]:
    """A transaction for `enqueue_in_sync`, on a thread that does what it is told until the end."""
    orders: queue.SimpleQueue[tuple[Callable[[Any], Any], Future[Any]] | None] = queue.SimpleQueue()
    undo = threading.Event()
    ended: Future[None] = Future()

    def serve() -> None:
        with bench.sync_transaction() as tx:
            while (order := orders.get()) is not None:
                work, outcome = order
                outcome.set_running_or_notify_cancel()
                try:
                    outcome.set_result(work(tx))
                except BaseException as error:
                    outcome.set_exception(error)
            if undo.is_set():
                raise _Undo

    def live() -> None:
        try:
            with suppress(_Undo):
                serve()
            ended.set_result(None)
        except BaseException as error:
            ended.set_exception(error)

    async def order(work: Callable[[Any], Results]) -> Results:
        outcome: Future[Results] = Future()
        orders.put((work, outcome))
        return await asyncio.wrap_future(outcome)

    def in_savepoint(tx: object, jobs: Sequence[NewJob], keep: bool) -> Results:
        results: Results = []
        with suppress(_Undo), bench.sync_savepoint(tx):
            results = bench.sync_tx.enqueue_in_sync(tx, jobs)
            if not keep:
                raise _Undo
        return results

    threading.Thread(target=live, daemon=True, name="tck-caller").start()
    try:
        yield Caller(
            lambda jobs: order(lambda tx: bench.sync_tx.enqueue_in_sync(tx, jobs)),
            lambda jobs, keep: order(lambda tx: in_savepoint(tx, jobs, keep)),
            undo.set,
        )
    except BaseException:
        undo.set()
        raise
    finally:
        orders.put(None)
        await asyncio.wrap_future(ended)


def check_both_sorts(
    *clauses: str, savepoint: bool = False
) -> Callable[[Callable[[Bench, Begin], Awaitable[None]]], None]:
    """Registers one check for awaited transactions and one for blocking ones."""

    def register(prove: Callable[[Bench, Begin], Awaitable[None]]) -> None:
        def with_sort(sort: Begin, name: str) -> Callable[[Bench], Awaitable[None]]:
            async def of_sort(bench: Bench) -> None:
                await prove(bench, sort)

            of_sort.__name__ = f"{prove.__name__}_{name}"
            of_sort.__module__ = prove.__module__
            return of_sort

        hands: tuple[Hand, ...] = ("transaction", "savepoint") if savepoint else ("transaction",)
        sync_hands: tuple[Hand, ...] = ("sync_transaction", "sync_savepoint") if savepoint else ("sync_transaction",)
        check(*clauses, needs=TransactionalStore, given=hands)(with_sort(begin_awaited, "awaited"))
        check(*clauses, needs=SyncTransactionalStore, given=sync_hands)(with_sort(begin_blocking, "blocking"))

    return register
