"""`klokka worker --processes`: a supervisor that replaces the dead and leaves nobody behind."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Generator

import pytest

from tests.support.shell import Shell

APP = """
    import asyncio
    from datetime import timedelta
    from klokka.app.klokka import Klokka

    app = Klokka("sqlite:///jobs.db", concurrency=4, lease=timedelta(seconds=2))

    @app.job("slow")
    async def slow() -> None:
        await asyncio.sleep(0.5)
"""
PATIENCE = 20.0


@pytest.fixture
def supervised(shell: Shell) -> Generator[subprocess.Popen[str]]:
    shell.write("site_app.py", APP)
    command = [sys.executable, "-m", "klokka", "worker", "site_app:app", "--processes", "2", "--grace", "5s"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.terminate()
            try:
                process.wait(PATIENCE)
            finally:
                process.kill()


def _live(shell: Shell) -> set[int]:
    return {int(worker["pid"]) for worker in shell.json("workers") if worker["live"]}


def _until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "not in time"
        time.sleep(0.05)


def _opened(shell: Shell) -> bool:
    return shell.run("workers").exit_code == 0 and len(_live(shell)) == 2


def _gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def test_a_dead_process_is_replaced_and_a_stop_leaves_nobody_behind(
    shell: Shell, supervised: subprocess.Popen[str]
) -> None:
    _until(lambda: _opened(shell))
    first = _live(shell)
    victim = min(first)

    os.kill(victim, signal.SIGKILL)
    _until(lambda: len(_live(shell) - first) == 1)
    ran = _live(shell) | first
    supervised.send_signal(signal.SIGTERM)
    _, log = supervised.communicate(timeout=PATIENCE)

    assert supervised.returncode == 0
    assert f"(pid {victim}) died: ended by SIGKILL" in log
    assert "starts again" in log
    assert all(_gone(pid) for pid in ran)
    assert "Traceback" not in log
