"""SQLAlchemy's sessions and connections, on whichever driver for PostgreSQL."""

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, TextClause, text
from sqlalchemy.orm import Session, scoped_session

from klokka.core.records import EnqueueResult
from klokka.errors import WrongTransaction
from klokka.stores.postgres.composing import placed
from klokka.stores.postgres.transactions.steps import Query, Rows, Steps, run_through

if TYPE_CHECKING:  # asynchronous code has it loaded, and other code does without
    from sqlalchemy.ext.asyncio import AsyncConnection, AsyncSession, async_scoped_session


def carry(tx: Connection | Session | scoped_session[Any], steps: Steps) -> list[EnqueueResult]:
    """Runs the steps on the connection that the session is using or begins to use. Nothing pending is flushed."""
    connection = tx if isinstance(tx, Connection) else tx.connection()
    dialect = connection.dialect.name
    if dialect != "postgresql":
        raise WrongTransaction(
            f"tx is connected to {dialect}; the PostgreSQL store takes a connection to its database."
        )

    def run(query: Query) -> Rows:
        result = connection.execute(
            _clause(query.sql),
            {} if query.parameter is None else {"parameter": query.parameter},
            execution_options={"stream_results": False, "yield_per": 0},  # a cursor on the server cannot write
        )
        return result.all() if result.returns_rows else ()

    return run_through(steps, run)


async def carry_async(
    tx: "AsyncConnection | AsyncSession | async_scoped_session[AsyncSession]", steps: Steps
) -> list[EnqueueResult]:
    """The same on an asynchronous connection."""
    own = tx() if callable(tx) else tx  # a scope gives the session that belongs here

    def within(inner: Connection | Session) -> list[EnqueueResult]:
        return carry(inner, steps)

    return await own.run_sync(within)


@lru_cache(maxsize=64)
def _clause(sql: str) -> TextClause:
    """The statement with its parameter by name, and no other colon taken for one."""
    return text(placed(sql.replace(":", r"\:"), ":parameter"))
