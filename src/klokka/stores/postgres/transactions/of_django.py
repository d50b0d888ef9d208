"""Django's connections, such as `django.db.connection` or `connections["other"]`."""

from typing import Any

from klokka.core.records import EnqueueResult
from klokka.errors import WrongTransaction
from klokka.stores.postgres.composing import placed
from klokka.stores.postgres.transactions.steps import Query, Rows, Steps, run_through


def carry(tx: Any, steps: Steps) -> list[EnqueueResult]:
    """Runs the steps in the innermost `atomic()` of this thread."""
    if tx.vendor != "postgresql":
        raise WrongTransaction(
            f"tx is Django's connection {tx.alias!r} to {tx.vendor}; the PostgreSQL store takes one to its database."
        )
    with tx.cursor() as cursor:

        def run(query: Query) -> Rows:
            if query.parameter is None:
                cursor.execute(query.sql)
            else:
                cursor.execute(placed(query.sql.replace("%", "%%"), "%s"), [query.parameter])
            rows: Rows = cursor.fetchall() if cursor.description else ()
            return rows

        return run_through(steps, run)
