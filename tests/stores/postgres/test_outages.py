"""What breaks is told apart: nothing happened, something may have happened, somebody else is in the way."""

import asyncio
from collections.abc import Generator
from datetime import timedelta

import psycopg
import pytest

from klokka.core.ids import WorkerId
from klokka.core.records import NewJob
from klokka.errors import Busy, MisuseError, StoreError, StoreUnavailable, UnknownOutcome
from klokka.stores.postgres.database import Transaction
from klokka.stores.postgres.store import PostgresStore
from klokka.testing.postgres_server import PostgresServer
from tests.support.postgres import connection, end_connections, execute
from tests.support.proxy import proxy_to

JOB = NewJob(kind="k", payload="{}")
HALF = timedelta(seconds=0.5)


@pytest.fixture
def own_server() -> Generator[PostgresServer]:
    with PostgresServer.start() as server:
        yield server


async def test_connections_that_were_killed_while_idle_are_not_noticed(where: str, store: PostgresStore) -> None:
    await asyncio.gather(*(store.now() for _ in range(4)))

    end_connections(where)

    assert len(await store.enqueue([JOB])) == 1


async def test_a_write_whose_connection_broke_has_an_unknown_outcome(where: str, store: PostgresStore) -> None:
    with psycopg.connect(where) as somebody:
        somebody.execute("lock table klokka.jobs in share mode")
        enqueueing = asyncio.create_task(store.enqueue([JOB]))
        await waiting_for_a_lock(where)
        end_waiting(where)

        with pytest.raises(UnknownOutcome) as caught:
            await enqueueing

    assert isinstance(caught.value.__cause__, psycopg.Error)
    assert len(await store.enqueue([JOB])) == 1


async def test_a_look_whose_connection_broke_has_changed_nothing(where: str, store: PostgresStore) -> None:
    with psycopg.connect(where) as somebody:
        somebody.execute("lock table klokka.jobs in access exclusive mode")
        looking = asyncio.create_task(store.counts_by_status())
        await waiting_for_a_lock(where)
        end_waiting(where)

        with pytest.raises(StoreUnavailable):
            await looking


async def test_a_transaction_that_broke_before_its_commit_has_changed_nothing(where: str, store: PostgresStore) -> None:
    with psycopg.connect(where) as somebody:
        somebody.execute("lock table klokka.jobs in share mode")
        enqueueing = asyncio.create_task(store.enqueue_once(JOB, scope="s", key="k", ttl=HALF))
        await waiting_for_a_lock(where)
        end_waiting(where)

        with pytest.raises(StoreUnavailable):
            await enqueueing


async def test_a_lock_that_is_not_released_ends_in_busy(where: str, store: PostgresStore) -> None:
    with psycopg.connect(where) as somebody:
        somebody.execute("lock table klokka.jobs in share mode")

        with pytest.raises(Busy):
            await store.enqueue([JOB])

    assert (await store.counts_by_status())["enqueued"] == 0  # type: ignore[index]


async def test_a_restart_of_the_server_is_survived(own_server: PostgresServer) -> None:
    store = PostgresStore(own_server.url(), bound=HALF)
    await store.open()
    await store.enqueue([JOB])

    await asyncio.to_thread(own_server.restart)

    (job,) = await store.claim(queues=["default"], kinds=["k"], limit=5, lease=HALF, worker=WorkerId("w"))
    assert job.attempt == 1
    await store.close()


async def test_a_server_that_is_gone_is_unavailable_and_found_again(where: str) -> None:
    async with proxy_to(where) as proxy:
        store = PostgresStore(proxy.where, bound=HALF)
        await store.open()
        proxy.cut(refuse=True)

        with pytest.raises(StoreUnavailable) as caught:
            await store.enqueue([JOB])
        proxy.mend()

        assert "local" not in str(caught.value) or "PostgreSQL" in str(caught.value)
        assert len(await store.enqueue([JOB])) == 1
        await store.close()


async def test_more_verbs_than_connections_take_turns(where: str) -> None:
    store = PostgresStore(where, connections=2)
    await store.open()

    results = await asyncio.gather(*(store.enqueue([JOB]) for _ in range(50)))

    assert len({result.id for (result,) in results}) == 50
    with connection(where) as bystander:
        count = bystander.execute("select count(*) from pg_stat_activity where datname = current_database()").fetchone()
    assert count == (3,)
    await store.close()


async def test_a_verb_that_finds_no_connection_in_time_is_busy(where: str) -> None:
    store = PostgresStore(where, connections=1, bound=timedelta(seconds=0.2))
    await store.open()
    working = asyncio.create_task(store._database.look(b"select pg_sleep(1)"))
    await asyncio.sleep(0)

    with pytest.raises(Busy, match="connections"):
        await store.now()

    await working
    await store.close()


async def test_a_cancelled_verb_gives_its_connection_back(where: str) -> None:
    store = PostgresStore(where, connections=1, bound=timedelta(seconds=5))
    await store.open()
    with psycopg.connect(where) as somebody:
        somebody.execute("lock table klokka.jobs in access exclusive mode")
        for verb in (store.enqueue([JOB]), store.enqueue_once(JOB, scope="s", key="k", ttl=HALF)):
            task = asyncio.create_task(verb)
            await waiting_for_a_lock(where)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

            await store.now()
    assert sum((await store.counts_by_status()).values()) == 0
    await store.close()


@pytest.mark.parametrize(
    ("changes", "hint"),
    [
        ({"host": "/nonexistent"}, "cannot be reached .*nonexistent.* see that it runs"),
        ({"dbname": "no_such_database"}, "took no connection .*no_such_database.* correct database, role or password"),
        ({"user": "no_such_role"}, "took no connection .*no_such_role"),
    ],
)
async def test_a_server_that_cannot_be_had_is_named(where: str, changes: dict[str, str], hint: str) -> None:
    url = psycopg.conninfo.make_conninfo(where, **changes, password="hunter2")  # noqa: S106

    with pytest.raises(StoreUnavailable, match=hint) as caught:
        await PostgresStore(url).open()

    assert "hunter2" not in str(caught.value)


async def test_a_database_that_cannot_keep_every_text_is_refused(bare: str) -> None:
    name = psycopg.conninfo.conninfo_to_dict(bare)["dbname"]
    execute("drop database {}", name)
    execute("create database {} template template0 encoding 'LATIN1'", name)

    with pytest.raises(StoreError, match="UTF8"):
        await PostgresStore(bare).open()


async def test_a_verb_before_open_and_after_close_is_misuse(where: str) -> None:
    store = PostgresStore(where)
    with pytest.raises(MisuseError):
        await store.now()
    await store.open()
    await store.close()
    await store.close()

    with pytest.raises(MisuseError):
        await store.now()


async def waiting_for_a_lock(where: str) -> None:
    """Returns when a statement of the store's waits."""
    async with await psycopg.AsyncConnection.connect(where, autocommit=True) as bystander, asyncio.timeout(10):
        while True:
            found = await bystander.execute(WAITING)
            if await found.fetchone():
                return
            await asyncio.sleep(0.01)


def end_waiting(where: str) -> None:
    with connection(where) as bystander:
        bystander.execute(WAITING.replace("select pid", "select pg_terminate_backend(pid)"))


WAITING = (
    "select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' "
    "and application_name = 'klokka'"
)


async def test_a_process_that_sleeps_within_a_transaction_holds_up_nobody_and_tries_again(store: PostgresStore) -> None:
    turns: list[int] = []

    async def act(tx: Transaction) -> int:
        turns.append(len(turns))
        await tx.run("claim_key", "s", "k", "token", "1 hour")
        if len(turns) == 1:
            await asyncio.sleep(1)
        await tx.run("pause_queue", "default", "because")
        return len(turns)

    assert await store._database.transact(act) == 2
    assert await store.paused_queues() == {"default": "because"}
