"""A fresh database for each test."""

from collections.abc import AsyncGenerator, Generator
from datetime import timedelta

import pytest

from klokka.stores.postgres.store import PostgresStore
from tests.support.postgres import fresh_database
from tests.support.snapshots import Beside, beside_a_snapshot


@pytest.fixture
def where() -> Generator[str]:
    """A database with the schema in it."""
    with fresh_database() as where:
        yield where


@pytest.fixture
def bare() -> Generator[str]:
    """A database with nothing in it."""
    with fresh_database(migrated=False) as where:
        yield where


@pytest.fixture
async def store(where: str) -> AsyncGenerator[PostgresStore]:
    """An open store that waits for others half a second."""
    store = PostgresStore(where, bound=timedelta(seconds=0.5))
    await store.open()
    yield store
    await store.close()


@pytest.fixture
async def beside(where: str, store: PostgresStore) -> AsyncGenerator[Beside]:
    """An open store beside a snapshot that somebody holds."""
    with beside_a_snapshot(where, store) as beside:
        yield beside
