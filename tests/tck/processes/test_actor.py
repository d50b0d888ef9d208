"""Other processes: what they say, how they die, and clocks that are off."""

import subprocess
import sys
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest

from klokka.stores.sqlite.store import SqliteStore
from klokka.tck.capabilities import Lacking
from klokka.tck.processes.deeds import deeds_of
from klokka.tck.processes.roles import Orders
from klokka.tck.processes.troupe import Actor

MINUTE = timedelta(minutes=1)


def orders(path: Path, role: str) -> Orders:
    return Orders(reopen=partial(SqliteStore, path / "jobs.db"), role=role, name=role, seed=0, lease=MINUTE)


def test_what_a_killed_process_was_told_is_known(tmp_path: Path) -> None:
    actor = Actor(orders(tmp_path, "produce"))
    try:
        actor.wait_for(8)
    finally:
        actor.close()

    deeds = deeds_of([actor])
    assert deeds[0].about == ["produce-1-0", "produce-1-1", "produce-1-2"]
    assert deeds[0].answer == [1, 2, 3]
    assert sum(not deed.known for deed in deeds) <= 1


def test_a_process_that_cannot_begin_says_why(tmp_path: Path) -> None:
    actor = Actor(orders(tmp_path, "no such role"))
    try:
        with pytest.raises(RuntimeError, match="no such role"):
            actor.wait_for(2)
    finally:
        actor.close()


def test_a_store_that_cannot_go_to_another_process_is_a_lack(tmp_path: Path) -> None:
    with pytest.raises(Lacking, match="cannot go to another process"):
        Actor(Orders(reopen=lambda: SqliteStore(tmp_path / "x"), role="work", name="x", seed=0, lease=MINUTE))


def test_all_clocks_of_a_process_are_off_by_the_same() -> None:
    script = """
import time
real, wall = time.time(), time.time_ns()
from klokka.tck.processes.skew import set_clocks
set_clocks(3600.0)
import datetime
now = datetime.datetime.now(datetime.UTC)
assert 3599 < time.time() - real < 3700 and 3599e9 < time.time_ns() - wall < 3700e9
assert 3599 < now.timestamp() - real < 3700
assert isinstance(now, datetime.datetime) and isinstance(now - datetime.timedelta(1), datetime.datetime)
"""
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)


def test_a_process_stops_itself_in_the_middle_of_a_verb_and_goes_on(tmp_path: Path) -> None:
    told = orders(tmp_path, "stops")
    actor = Actor(told)
    try:
        actor.wait_for(2)
        with actor.stopped(by_itself=True):
            heard = len(actor.lines)
        actor.wait_for(3)
    finally:
        actor.close()

    assert [line.what for line in actor.lines[:3]] == ["ready", "stops", "goes on"]
    assert heard == 2
