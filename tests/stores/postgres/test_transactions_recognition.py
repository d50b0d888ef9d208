"""A connection is known by the names of its classes: no library is imported for that, and sorts are not mixed."""

import subprocess
import sys

import psycopg
import pytest

from klokka.core.records import NewJob
from klokka.errors import WrongTransaction
from klokka.stores.postgres.store import PostgresStore
from tests.support.transactions import SORTS, AsyncSort, Sort

WORK = NewJob(kind="work", payload="{}")


@pytest.mark.parametrize("sort", [name for name, sort in SORTS.items() if isinstance(sort, AsyncSort)])
async def test_an_asynchronous_connection_is_refused_by_the_blocking_verb(where: str, sort: str) -> None:
    made = SORTS[sort]
    assert isinstance(made, AsyncSort)

    async with made.transaction(where) as tx:
        for jobs in ([WORK], []):
            with pytest.raises(WrongTransaction, match=r"is asynchronous. Use `await app\.enqueue\(…, tx=…\)`"):
                PostgresStore(where).enqueue_in_sync(tx, jobs)


@pytest.mark.parametrize("sort", [name for name, sort in SORTS.items() if isinstance(sort, Sort) and name != "django"])
async def test_a_blocking_connection_is_refused_by_the_asynchronous_verb(where: str, sort: str) -> None:
    made = SORTS[sort]
    assert isinstance(made, Sort)

    with made.transaction(where) as tx:
        for jobs in ([WORK], []):
            with pytest.raises(WrongTransaction, match=r"is synchronous. Use `app\.enqueue_sync\(…, tx=…\)`"):
                await PostgresStore(where).enqueue_in(tx, jobs)


def test_something_of_a_like_name_is_not_taken_for_a_connection() -> None:
    class Connection:
        pass

    for tx in (Connection(), psycopg.Connection, psycopg, "connection"):
        with pytest.raises(WrongTransaction, match="takes a connection of psycopg, asyncpg, SQLAlchemy or Django"):
            PostgresStore("postgresql:///x").enqueue_in_sync(tx, [WORK])


def test_no_other_library_is_imported(where: str) -> None:
    code = """
import sys
import psycopg
from klokka.core.records import NewJob
from klokka.stores.postgres.store import PostgresStore
with psycopg.connect(sys.argv[1]) as connection:
    PostgresStore(sys.argv[1]).enqueue_in_sync(connection, [NewJob(kind="work", payload="1")])
print(sorted({"asyncpg", "sqlalchemy", "django"} & set(sys.modules)))
"""

    done = subprocess.run([sys.executable, "-c", code, where], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"
