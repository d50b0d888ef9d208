"""Every store keeps every clause: one test for each check of the kit and each store."""

import pytest

from klokka.tck.check import Check
from klokka.tck.checks import every_check
from klokka.tck.report import Failed, Skipped
from klokka.tck.run import run_check
from tests.support.subjects import FACTORIES


@pytest.mark.parametrize("check", every_check(), ids=lambda check: check.id)
@pytest.mark.parametrize("store", FACTORIES)
async def test_the_store_keeps_its_clauses(store: str, check: Check) -> None:
    result = await run_check(check, FACTORIES[store])

    if isinstance(result, Skipped):
        pytest.skip(result.reason)
    if isinstance(result, Failed):
        raise result.error
