"""psycopg's connections, whatever factories, pools and thresholds for preparing they were given."""

from typing import Any

from psycopg import AsyncConnection, AsyncRawCursor, Connection, RawCursor
from psycopg.rows import tuple_row

from klokka.core.records import EnqueueResult
from klokka.errors import WrongTransaction
from klokka.stores.postgres.transactions.steps import Query, Rows, Steps, await_through, run_through


def carry(tx: Connection[Any], steps: Steps) -> list[EnqueueResult]:
    """Runs the steps; an idle connection that is not in autocommit mode begins its transaction with the first one."""
    _check(tx)
    with RawCursor(tx, row_factory=tuple_row) as cursor:

        def run(query: Query) -> Rows:
            cursor.execute(query.sql.encode(tx.info.encoding), _parameters(query))
            return cursor.fetchall() if cursor.description else ()

        return run_through(steps, run)


async def carry_async(tx: AsyncConnection[Any], steps: Steps) -> list[EnqueueResult]:
    """The same on an asynchronous connection."""
    _check(tx)
    async with AsyncRawCursor(tx, row_factory=tuple_row) as cursor:

        async def run(query: Query) -> Rows:
            await cursor.execute(query.sql.encode(tx.info.encoding), _parameters(query))
            return await cursor.fetchall() if cursor.description else ()

        return await await_through(steps, run)


def _check(tx: Connection[Any] | AsyncConnection[Any]) -> None:
    if tx.closed:
        raise WrongTransaction("tx is a closed connection. Give an open one.")


def _parameters(query: Query) -> tuple[str] | None:
    return None if query.parameter is None else (query.parameter,)
