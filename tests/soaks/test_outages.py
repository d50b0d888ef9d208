"""The short form of `python -m tests.soaks.outages`."""

import pytest

from tests.soaks.outages import TROUBLES, soak


@pytest.mark.parametrize("name", TROUBLES)
async def test_no_acknowledged_job_is_lost_and_no_worker_dies_when(name: str) -> None:
    books = await soak(name, seconds=1)

    assert len(books.acknowledged) > 0
