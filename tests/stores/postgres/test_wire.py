"""What passes on the wire: how often, and what holds if nobody says goodbye, after a reset and where all falls silent."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from functools import partial

import pytest

from klokka.core.ids import WorkerId
from klokka.core.records import NewJob
from klokka.core.states import Running, Succeeded
from klokka.stores.postgres.store import PostgresStore
from klokka.tck.check import Check
from klokka.tck.checks import every_check
from klokka.tck.report import Passed
from klokka.tck.run import run_check
from klokka.tck.subject import Subject
from tests.support.firing import fires
from tests.support.postgres import fresh_database
from tests.support.proxy import Proxy, proxy_to

BOUND = timedelta(milliseconds=500)
MINUTE = timedelta(minutes=1)
WORKER = WorkerId("w")
JOB = NewJob(kind="k", payload="{}")
KEYED = NewJob(kind="k", payload="{}", unique_key="u")
CHECKS = [check for check in every_check() if "cut" in check.given]


async def reset(proxy: Proxy) -> None:
    """All connections, of verbs too."""
    proxy.cut()


async def swallowed(proxy: Proxy) -> None:
    """Of the connection that listens nothing is heard any more. Verbs go another way."""
    proxy.swallow()


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.id)
@pytest.mark.parametrize("cut", [reset, swallowed], ids=lambda cut: cut.__name__)
async def test_a_lost_connection_is_remade(cut: Callable[[Proxy], Awaitable[None]], check: Check) -> None:

    @asynccontextmanager
    async def factory() -> AsyncGenerator[Subject]:
        with fresh_database() as where:
            async with proxy_to(where) as proxy:
                verbs = proxy.where if cut is reset else where
                store = PostgresStore(verbs, listen=proxy.where, listen_check=BOUND, bound=BOUND)
                yield Subject(store=store, cut=lambda: cut(proxy))

    result = await run_check(check, factory)

    assert isinstance(result, Passed), result


Act = Callable[[], Awaitable[object]]


async def to_enqueue(store: PostgresStore) -> list[Act]:
    return [lambda: store.enqueue([JOB, KEYED])] * 2


async def to_claim(store: PostgresStore) -> list[Act]:
    await store.enqueue([JOB] * 2)
    return [lambda: store.claim(queues=["default"], kinds=["k"], limit=1, lease=MINUTE, worker=WORKER)] * 2


async def to_settle(store: PostgresStore) -> list[Act]:
    jobs = [job for claim in await to_claim(store) for job in await claim()]  # type: ignore[attr-defined]
    return [partial(store.transition, job.id, from_=Running(), to=Succeeded(), fence=job.fence) for job in jobs]


async def to_fire(store: PostgresStore, runs: list[NewJob]) -> list[Act]:
    return [
        partial(store.complete_fire, fire.schedule_id, fence=fire.fence, runs=runs, next_fire_at=None)
        for fire in await fires(store, 2)
    ]


@pytest.mark.parametrize(
    "to_act",
    [
        pytest.param(to_enqueue, id="enqueue"),
        pytest.param(to_claim, id="claim"),
        pytest.param(to_settle, id="settle"),
        pytest.param(partial(to_fire, runs=[]), id="a fire without runs"),
        pytest.param(partial(to_fire, runs=[JOB] * 3), id="a fire"),
        pytest.param(partial(to_fire, runs=[JOB, KEYED]), id="a fire with a keyed run"),
    ],
)
async def test_a_verb_is_one_round_trip(where: str, to_act: Callable[[PostgresStore], Awaitable[list[Act]]]) -> None:
    async with proxy_to(where) as proxy:
        store = PostgresStore(proxy.where, connections=1)
        await store.open()
        first, second = await to_act(store)
        await first()  # the statement is prepared
        before = proxy.round_trips

        answer = await second()

        await store.close()
        assert answer is not None
        assert proxy.round_trips - before == 1
