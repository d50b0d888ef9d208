"""The clauses on lost connections hold if nobody says goodbye: after a reset, and where all falls silent."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest

from klokka.stores.postgres.store import PostgresStore
from klokka.tck.check import Check
from klokka.tck.checks import every_check
from klokka.tck.report import Passed
from klokka.tck.run import run_check
from klokka.tck.subject import Subject
from tests.support.postgres import fresh_database
from tests.support.proxy import Proxy, proxy_to

BOUND = timedelta(milliseconds=500)
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
