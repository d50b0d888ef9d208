"""Every sort of connection keeps the clauses of transactional enqueue."""

from importlib.util import find_spec

import pytest

from klokka.tck.check import Check
from klokka.tck.checks import every_check
from klokka.tck.report import Failed, Skipped
from klokka.tck.run import run_check
from tests.support.subjects import BOUND
from tests.support.transactions import SORTS, AsyncSort, Sort, factory

AWAITED = frozenset({"transaction", "savepoint", "unusable"})
BLOCKING = frozenset({"sync_transaction", "sync_savepoint", "sync_unusable"})


def checks_for(sort: Sort | AsyncSort) -> list[Check]:
    """The checks of transactions, less those for callers of the other sort."""
    others = AWAITED if isinstance(sort, Sort) else BLOCKING
    return [
        check
        for check in every_check()
        if any(clause.startswith("tx.") for clause in check.clauses) and not others & set(check.given)
    ]


PAIRS = [(name, check) for name, sort in SORTS.items() for check in checks_for(sort)]
AWAITED_CHECKS = checks_for(SORTS["asyncpg"])


async def keeps(sort: Sort | AsyncSort, check: Check) -> None:
    result = await run_check(check, factory(sort, BOUND))

    assert not isinstance(result, Skipped), result.reason
    if isinstance(result, Failed):
        raise result.error


@pytest.mark.parametrize(("sort", "check"), PAIRS, ids=[f"{sort}-{check.id}" for sort, check in PAIRS])
async def test_the_connection_keeps_the_clauses_of_transactions(sort: str, check: Check) -> None:
    await keeps(SORTS[sort], check)


@pytest.mark.skipif(find_spec("greenlet") is None, reason="SQLAlchemy's asynchronous side needs the package greenlet")
@pytest.mark.parametrize("check", AWAITED_CHECKS, ids=lambda check: check.id)
@pytest.mark.parametrize("owner", ["connection", "session"])
@pytest.mark.parametrize("driver", ["psycopg", "asyncpg"])
async def test_sqlalchemys_asynchronous_side_keeps_them_too(driver: str, owner: str, check: Check) -> None:
    from tests.support import async_sqlalchemy

    await keeps(async_sqlalchemy.SORTS[f"sqlalchemy-async-{owner}-{driver}"], check)
