"""Stores for the tests of the runtime."""

from collections.abc import AsyncGenerator

import pytest

from tests.support.flaky import FlakyStore, opened


@pytest.fixture
async def store() -> AsyncGenerator[FlakyStore]:
    """An open store on the host's clock."""
    store = await opened()
    yield store
    await store.close()
