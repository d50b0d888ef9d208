"""Behind a pooler in transaction mode all works but LISTEN, and that says what to change."""

from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from dataclasses import replace
from datetime import timedelta

import pytest
from psycopg import AsyncConnection

from klokka.core.ids import WorkerId
from klokka.core.records import NewJob
from klokka.core.states import Running, Succeeded
from klokka.errors import StoreError
from klokka.stores.postgres.store import PostgresStore
from klokka.tck.check import Check
from klokka.tck.checks import every_check
from klokka.tck.report import Failed
from klokka.tck.run import run_check
from klokka.tck.subject import Subject
from tests.support.pgbouncer import PROGRAM, pgbouncer
from tests.support.pooler import transaction_pooler
from tests.support.postgres import connection

JOB = NewJob(kind="k", payload="{}")
SECOND = timedelta(seconds=1)


Pooler = Callable[[str], AbstractAsyncContextManager[str]]


@pytest.fixture(
    params=[
        pytest.param(transaction_pooler, id="small"),
        pytest.param(pgbouncer, id="pgbouncer", marks=pytest.mark.skipif(PROGRAM is None, reason="not installed")),
    ]
)
def through(request: pytest.FixtureRequest) -> Pooler:
    """A pooler in transaction mode: a small one of our own, and PgBouncer."""
    pooler: Pooler = request.param
    return pooler


@pytest.fixture
async def pooled(where: str, through: Pooler) -> AsyncGenerator[PostgresStore]:
    async with through(where) as pooler:
        store = PostgresStore(pooler, bound=timedelta(seconds=0.5))
        await store.open()
        yield store
        await store.close()


async def test_statements_are_the_same_after_many_repetitions(pooled: PostgresStore) -> None:
    for _ in range(20):
        (result,) = await pooled.enqueue([JOB])
        (job,) = await pooled.claim(queues=["default"], kinds=["k"], limit=1, lease=SECOND, worker=WorkerId("w"))

        assert job.id == result.id
        assert await pooled.transition(job.id, from_=Running(), to=Succeeded(), fence=job.fence)


async def test_settings_hold_in_every_transaction_and_are_not_left_to_others(
    where: str, through: Pooler, pooled: PostgresStore
) -> None:
    with connection(where) as bystander:
        (name,) = bystander.execute("select current_database()").fetchone() or ()
        bystander.execute(f'alter database "{name}" set default_transaction_read_only = on')
        bystander.execute(f"alter database \"{name}\" set timezone = 'Asia/Kathmandu'")
    async with through(where) as pooler:
        store = PostgresStore(pooler)
        await store.open()
        (result,) = await store.enqueue([replace(JOB, run_at=timedelta(days=1), unique_key="key")])
        again = await store.enqueue([replace(JOB, unique_key="key")])
        details = await store.get_job(result.id)
        await store.close()

        async with await AsyncConnection.connect(pooler, autocommit=True) as another:
            kept = await (await another.execute("show timezone")).fetchone()

    assert [each.id for each in again] == [result.id]
    assert details is not None
    assert details.summary.run_at - details.summary.enqueued_at == timedelta(days=1)
    assert details.summary.run_at.utcoffset() == timedelta(0)
    assert kept == ("Asia/Kathmandu",)


async def test_transactions_of_several_statements_stay_together(pooled: PostgresStore) -> None:
    job = await pooled.enqueue_once(JOB, scope="s", key="k", ttl=SECOND)

    assert job is not None
    assert await pooled.enqueue_once(JOB, scope="s", key="k", ttl=SECOND) is None


async def test_wakeups_are_refused_with_the_setting_to_change(pooled: PostgresStore) -> None:
    async with aclosing(pooled.wakeups()) as wakeups:
        with pytest.raises(StoreError, match=r"transaction mode.*listen=.*pool_mode"):
            await anext(wakeups)


async def test_wakeups_come_by_a_direct_connection_beside_the_pooler(where: str, through: Pooler) -> None:
    async with through(where) as pooler:
        store = PostgresStore(pooler, listen=where)
        await store.open()
        async with aclosing(store.wakeups()) as wakeups:
            await anext(wakeups)
            await store.enqueue([JOB])

            await anext(wakeups)
        await store.close()


@pytest.mark.parametrize(
    "check",
    [check for check in every_check() if check.group in ("claim_order", "transition")],
    ids=lambda check: check.id,
)
async def test_the_clauses_hold_through_a_pooler(where: str, through: Pooler, check: Check) -> None:

    @asynccontextmanager
    async def factory() -> AsyncGenerator[Subject]:
        async with through(where) as pooler:
            yield Subject(store=PostgresStore(pooler))

    result = await run_check(check, factory)

    if isinstance(result, Failed):
        raise result.error
