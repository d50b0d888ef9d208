"""asyncpg's connections, from a pool or not."""

from asyncpg import Connection, Record

from klokka.core.records import EnqueueResult
from klokka.stores.postgres.transactions.steps import Query, Rows, Steps, await_through


async def carry_async(tx: Connection, steps: Steps) -> list[EnqueueResult]:
    """Runs the steps; whether the statement is prepared by name is up to the connection's own cache."""

    async def run(query: Query) -> Rows:
        if query.parameter is None:
            await tx.execute(query.sql)
            return ()
        return [tuple(row) for row in await tx.fetch(query.sql, query.parameter, record_class=Record)]

    return await await_through(steps, run)
