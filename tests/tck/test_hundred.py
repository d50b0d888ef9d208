"""The short form of `python -m tests.tck.hundred`: right stores give no alarm, whatever the seed."""

import pytest

from klokka.tck.campaign import new_seed
from tests.tck.hundred import false_alarms


@pytest.mark.parametrize(("store", "only"), [("memory", "core"), ("sqlite", "lease"), ("rough-postgres", "history")])
def test_a_right_store_gives_no_false_alarm(store: str, only: str) -> None:
    examples = ("example",) if only == "core" else (only,)

    assert false_alarms(store, runs=2, seed=new_seed(), only=examples) == []
