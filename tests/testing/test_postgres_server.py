"""The server of our own is shared, and gone with its last user however that one ends."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator
from pathlib import Path

import psycopg
import pytest

from klokka.testing.postgres_binaries import Binaries, embedded
from klokka.testing.postgres_server import PostgresServer

PROGRAM = """
import sys
from klokka.testing.postgres_server import PostgresServer
server = PostgresServer.start()
print(server.folder, flush=True)
sys.stdin.read()
"""


def comes(condition: Callable[[], bool]) -> bool:
    """Whether it holds within a bounded time."""
    deadline = time.monotonic() + 60
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)
    return condition()


def gone(folder: Path) -> bool:
    """Whether the folder goes away within a bounded time."""
    return comes(lambda: not folder.exists())


def ended(pid: int) -> bool:
    """Whether a process has ended, also where nobody has reaped it."""
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return state.stdout.strip()[:1] in ("", "Z")


def test_a_server_ends_with_its_last_use() -> None:
    first = PostgresServer.start()
    second = PostgresServer.join(first.folder)
    assert second is not None

    first.close()

    with psycopg.connect(second.url()) as client:
        assert client.execute("select 1").fetchone() == (1,)
    second.close()
    assert gone(second.folder)
    assert PostgresServer.join(second.folder) is None


def test_a_server_ends_when_its_user_is_killed() -> None:
    user = subprocess.Popen([sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True)
    assert user.stdout is not None
    folder = Path(user.stdout.readline().strip())
    pid = int((folder / "data" / "postmaster.pid").read_text().splitlines()[0])

    user.send_signal(signal.SIGKILL)
    user.communicate(timeout=60)

    assert gone(folder)
    assert comes(lambda: ended(pid))  # a server removes its pid file, which pg_ctl waits for, a little before it ends


@pytest.fixture
def open_folder() -> Generator[Path]:
    """A folder that everybody may enter."""
    with tempfile.TemporaryDirectory(prefix="klokka-open-") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def test_a_server_that_cannot_start_says_why_and_leaves_nothing(
    open_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(open_folder))
    for name in ("initdb", "pg_ctl"):
        (open_folder / name).write_text("#!/bin/sh\necho the disk is made of cheese; exit 3\n")
        (open_folder / name).chmod(0o755)

    with pytest.raises(RuntimeError, match="made of cheese"):
        PostgresServer.start(binaries=Binaries(open_folder))

    assert all(gone(folder) for folder in open_folder.glob("klokka-pg-*"))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs a server as somebody else")
def test_programs_in_a_closed_folder_are_copied_to_where_the_server_may_enter(
    tmp_path: Path, open_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = embedded().folder.parents[1]
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    for name in (installed.name, f"{installed.name}.libs"):
        (closed / name).symlink_to(installed.parent / name)
    monkeypatch.syspath_prepend(str(closed))
    monkeypatch.setattr("tempfile.tempdir", str(open_folder))

    first, second = embedded(), embedded()

    assert first == second
    assert first.folder.is_relative_to(open_folder)
    assert "PostgreSQL" in first.run("postgres", "--version")
