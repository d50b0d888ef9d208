"""psycopg's connections, whatever factories, pools and thresholds for preparing they were given."""

from contextlib import nullcontext
from typing import Any

from psycopg import AsyncConnection, AsyncRawCursor, Connection, RawCursor, pq
from psycopg.rows import tuple_row

from klokka.core.records import EnqueueResult
from klokka.errors import WrongTransaction
from klokka.stores.postgres.transactions.steps import Query, Rows, Steps, await_through, run_through


def carry(tx: Connection[Any], steps: Steps) -> list[EnqueueResult]:
    """Runs the steps; an idle connection that is not in autocommit mode begins its transaction with the first one."""
    _check(tx)
    with RawCursor(tx, row_factory=tuple_row) as cursor:

        def run(query: Query) -> Rows:
            with tx.pipeline() if _in_pipeline(tx) else nullcontext():
                cursor.execute(query.sql.encode(tx.info.encoding), _parameters(query))
            return cursor.fetchall() if cursor.description else ()

        return run_through(steps, run)


async def carry_async(tx: AsyncConnection[Any], steps: Steps) -> list[EnqueueResult]:
    """The same on an asynchronous connection."""
    _check(tx)
    async with AsyncRawCursor(tx, row_factory=tuple_row) as cursor:

        async def run(query: Query) -> Rows:
            async with tx.pipeline() if _in_pipeline(tx) else nullcontext():
                await cursor.execute(query.sql.encode(tx.info.encoding), _parameters(query))
            return await cursor.fetchall() if cursor.description else ()

        return await await_through(steps, run)


def _check(tx: Connection[Any] | AsyncConnection[Any]) -> None:
    if tx.closed:
        raise WrongTransaction("tx is a closed connection. Give an open one.")


def _in_pipeline(tx: Connection[Any] | AsyncConnection[Any]) -> bool:
    """Whether answers come late, so that each has to be waited for: the end of an inner pipeline does that."""
    return tx.pgconn.pipeline_status != pq.PipelineStatus.OFF


def _parameters(query: Query) -> tuple[str] | None:
    return None if query.parameter is None else (query.parameter,)
