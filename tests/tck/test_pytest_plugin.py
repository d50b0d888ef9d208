"""`pytest --klokka-store`: the kit in somebody else's suite."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

KIT = """
import itertools
from contextlib import asynccontextmanager

from klokka.core.clocks import ManualClock
from klokka.stores.memory.store import MemoryStore
from klokka.tck.subject import Subject


class Reversed(MemoryStore):
    async def claim(self, **arguments):
        return (await super().claim(**arguments))[::-1]


@asynccontextmanager
async def right():
    yield Subject(store=MemoryStore())


@asynccontextmanager
async def advanced():
    clock = ManualClock()
    yield Subject(store=MemoryStore(clock=clock), advance=clock.advance)


turns = itertools.count()


@asynccontextmanager
async def used_up():
    if next(turns) > 3:
        raise ConnectionError("no more databases")
    yield Subject(store=MemoryStore())


@asynccontextmanager
async def reversed_store():
    yield Subject(store=Reversed())
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "kit.py").write_text(KIT)
    (tmp_path / "test_own.py").write_text("def test_own() -> None: ...\n")
    (tmp_path / "pytest.ini").write_text("[pytest]\nasyncio_default_fixture_loop_scope = function\n")
    return tmp_path


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    return subprocess.run(
        [sys.executable, "-m", "pytest", *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )


def test_the_checks_of_a_right_store_pass_beside_the_suites_own(folder: Path) -> None:
    done = run(folder, "--klokka-store", "kit:right", "--klokka-only", "lease", "--klokka-seed", "7")

    assert done.returncode == 0, done.stdout + done.stderr
    assert "klokka-store: kit:right, --klokka-seed 7" in done.stdout
    assert "passed" in done.stdout
    assert "skipped" in done.stdout


def test_what_time_has_cut_short_is_told(folder: Path) -> None:
    (folder / "conftest.py").write_text(
        "from datetime import timedelta\nfrom klokka.tck.checks import machine\nmachine.WITHIN = timedelta(0)\n"
    )

    done = run(
        folder, "-q", "--klokka-store", "kit:advanced", "--klokka-only", "scripts_of_schedules_go_as_the_model_says"
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert "cut short by time:" in done.stdout
    assert "0 plays of 100 in 0 s" in done.stdout


def test_a_failure_is_told_in_the_contracts_words(folder: Path) -> None:
    done = run(folder, "-q", "--klokka-store", "kit:reversed_store", "--klokka-only", "claim.order")

    assert done.returncode == 1
    assert "[claim.order] Within a queue: ended leases first" in done.stdout
    assert "a right store would answer:" in done.stdout
    assert "the seed of the conformance kit: --klokka-seed" in done.stdout
    assert "interceptor.py" not in done.stdout


def test_a_session_ends_where_the_factory_fails_again_and_again(folder: Path) -> None:
    done = run(folder, "-q", "--klokka-store", "kit:used_up", "--klokka-only", "claim_order")

    assert done.returncode == pytest.ExitCode.INTERRUPTED
    assert "3 failed, 2 passed" in done.stdout
    assert "3 checks came to no end, or got no store" in done.stdout
    assert "ConnectionError: no more databases" in done.stdout


def test_a_factory_that_is_none_is_a_usage_error(folder: Path) -> None:
    done = run(folder, "--klokka-store", "kit:nothing")

    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "--klokka-store kit:nothing: module 'kit' has no 'nothing'." in done.stderr


def test_without_the_option_nothing_of_the_kit_is_imported(folder: Path) -> None:
    (folder / "test_own.py").write_text(
        "import sys\n\n\ndef test_own() -> None:\n"
        "    ours = {name for name in sys.modules if name.startswith('klokka')}\n"
        "    assert ours == {'klokka', 'klokka.tck', 'klokka.tck.pytest_plugin'}\n"
    )

    done = run(folder, "-q")

    assert done.returncode == 0, done.stdout
