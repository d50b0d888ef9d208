"""What runs on the caller's connection and in which order, apart from how a library runs it."""

import json
from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from klokka.core.records import EnqueueResult
from klokka.stores.postgres.failures import UNSEEN_HOLDER
from klokka.stores.postgres.inserts import Insert, results
from klokka.stores.postgres.parameters import span
from klokka.stores.postgres.patience import Patience
from klokka.stores.postgres.setting import Setting
from klokka.stores.postgres.transactions.judging import sqlstate_of

_SAVEPOINT: Final = "klokka_enqueue"
_REPETITIONS: Final = 10


@dataclass(frozen=True, slots=True)
class Query:
    """A statement. If it has a parameter, that is the one `$1` in it."""

    sql: str
    parameter: str | None = None


Rows = Sequence[Sequence[Any]]
"""Rows by position. A statement without any gives none."""

Steps = Generator[Query, Rows, list[EnqueueResult]]
"""Asks for one statement after another, is sent their rows or thrown what they raised, and returns the results."""


def enqueueing(insert: Insert, setting: Setting) -> Steps:
    """Stores the jobs in the open transaction, and undoes that alone, and all of it, if any of it fails [tx.atomic].

    A savepoint is what the server refuses where no transaction is open or it has failed, so that no state of a driver
    need be trusted [tx.open].
    """
    yield Query(f"savepoint {_SAVEPOINT}")
    try:
        rows = yield from (_keyed(insert, setting) if insert.keyed else _insert(insert, setting))
    except GeneratorExit:
        raise
    except BaseException:
        with suppress(Exception):  # where the connection is gone, what it was lost by is raised
            yield Query(f"rollback to savepoint {_SAVEPOINT}")
            yield Query(f"release savepoint {_SAVEPOINT}")
        raise
    yield Query(f"release savepoint {_SAVEPOINT}")
    return results((int(job), created, rung) for job, created, rung in rows)


def run_through(steps: Steps, run: Callable[[Query], Rows]) -> list[EnqueueResult]:
    """What the steps come to where statements are run by blocking."""
    try:
        query = next(steps)
        while True:
            try:
                rows = run(query)
            except BaseException as error:
                query = steps.throw(error)
            else:
                query = steps.send(rows)
    except StopIteration as end:
        return _of(end)


async def await_through(steps: Steps, run: Callable[[Query], Awaitable[Rows]]) -> list[EnqueueResult]:
    """What the steps come to where statements are awaited. Cancelled, it undoes what it did before it ends."""
    try:
        query = next(steps)
        while True:
            try:
                rows = await run(query)
            except GeneratorExit:
                raise
            except BaseException as error:
                query = steps.throw(error)
            else:
                query = steps.send(rows)
    except StopIteration as end:
        return _of(end)


def _of(end: StopIteration) -> list[EnqueueResult]:
    found: list[EnqueueResult] = end.value
    return found


def _insert(insert: Insert, setting: Setting) -> Generator[Query, Rows, Rows]:
    return (yield Query(setting.schema.sql(insert.name).decode(), _ascii(insert.jobs)))


def _keyed(insert: Insert, setting: Setting) -> Generator[Query, Rows, Rows]:
    """The insert, bounded, and repeated where a holder was committed while it waited for that one [tx.unique].

    In a transaction with a snapshot of its own a repetition would see no more; the server says so by another code.
    """
    patience = Patience(setting.bound)
    for left in reversed(range(_REPETITIONS)):
        try:
            return (yield from _bounded(insert, setting, patience))
        except Exception as error:
            if not left or sqlstate_of(error) != UNSEEN_HOLDER:
                raise
        yield Query(f"rollback to savepoint {_SAVEPOINT}")
    raise AssertionError


def _bounded(insert: Insert, setting: Setting, patience: Patience) -> Generator[Query, Rows, Rows]:
    """The insert, with the store's bound on its waits; the caller's own is set back, by the savepoint if it fails."""
    ((before, _),) = yield Query(setting.schema.sql("bound_waits").decode(), span(patience.left))
    rows = yield from _insert(insert, setting)
    theirs = before.decode() if isinstance(before, bytes) else before  # psycopg's in the encoding SQL_ASCII
    yield Query(setting.schema.sql("set_back_waits").decode(), theirs)
    return rows


def _ascii(text: str) -> str:
    """JSON that any encoding of a connection can carry."""
    return text if text.isascii() else json.dumps(json.loads(text))
