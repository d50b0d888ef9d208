"""A fresh database for each test."""

from collections.abc import AsyncGenerator, Generator
from datetime import timedelta

import pytest

from klokka.stores.postgres.store import PostgresStore
from tests.support.postgres import fresh_database


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
