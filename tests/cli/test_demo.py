"""`klokka demo`: a ledger in which nothing is lost, though workers die."""

import json
import subprocess
import sys

import pytest


@pytest.mark.timeout(110)
def test_the_demo_loses_nothing_and_says_so_in_json() -> None:
    command = [sys.executable, "-m", "klokka", "demo", "--json", "--jobs", "600"]

    result = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)

    ledger = json.loads(result.stdout)
    assert result.returncode == 0, result.stderr
    assert list(ledger) == ["enqueued", "succeeded", "retried", "dead_lettered", "lost", "started_twice"]
    assert (ledger["enqueued"], ledger["succeeded"], ledger["dead_lettered"], ledger["lost"]) == (600, 598, 2, 0)
    assert ledger["retried"] > 0
    assert ledger["started_twice"] > 0
    assert result.stderr == ""
