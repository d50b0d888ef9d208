"""A PostgreSQL server of our own: for tests, benchmarks and demonstrations, gone when nobody uses it any more."""

import fcntl
import os
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import IO, Final, Self
from urllib.parse import quote

from klokka.testing.postgres_binaries import Binaries, embedded, server_user

_LONGEST_SOCKET: Final = 100
"""Bytes of a socket's path; the kernel takes 107."""

_CONFIGURATION: Final = """
listen_addresses = ''
unix_socket_directories = '{folder}'
max_connections = 200
"""
_FORGETFUL: Final = """
fsync = off
full_page_writes = off
"""


class PostgresServer:
    """A running server and one use of it.

    It listens on a Unix socket alone. Uses are shared locks on a file, which the kernel releases however a process
    ends; when the last one is gone, a keeper process stops the server and removes its folder.
    """

    def __init__(self, folder: Path, use: IO[bytes]) -> None:
        self.folder = folder
        self._use = use

    @classmethod
    def start(
        cls, *, binaries: Binaries | None = None, durable: bool = False, standby_of: "PostgresServer | None" = None
    ) -> Self:
        """A new server with an empty cluster, or a standby that follows another.

        Only a `durable` one keeps commits when the machine dies.

        Raises:
            RuntimeError: it did not start; with all that it said.
            MissingExtra: the programs are not installed.
        """
        binaries = binaries or embedded()
        folder = _new_folder()
        with ExitStack() as undo:
            use = undo.enter_context((folder / "users").open("wb"))
            fcntl.flock(use, fcntl.LOCK_SH)
            _keep(folder, binaries)
            _create(folder, binaries, standby_of)
            _start(folder, binaries, durable=durable)
            (folder / "ready").write_text(str(binaries.folder), encoding="utf-8")
            undo.pop_all()
        return cls(folder, use)

    @classmethod
    def join(cls, folder: Path) -> Self | None:
        """A further use of a server that has started; None if it is gone or going."""
        with ExitStack() as undo:
            try:
                use = undo.enter_context((folder / "users").open("rb"))
                fcntl.flock(use, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except OSError:
                return None
            undo.pop_all()
        return cls(folder, use)

    def url(self, database: str = "postgres") -> str:
        """Where a client connects as the superuser `postgres`."""
        return f"postgresql://postgres@/{quote(database, safe='')}?host={quote(str(self.folder), safe='')}"

    def restart(self) -> None:
        """Ends every connection without a goodbye and starts again, as after a crash."""
        self._binaries.run("pg_ctl", "restart", "-m", "immediate", *_cluster(self.folder))

    def stop(self) -> None:
        """Ends every connection without a goodbye and stays away, as after the loss of a machine."""
        self._binaries.run("pg_ctl", "stop", "-m", "immediate", *_cluster(self.folder))

    def promote(self) -> None:
        """Makes a standby a primary; returns when it takes writes."""
        self._binaries.run("pg_ctl", "promote", *_cluster(self.folder))

    @property
    def _binaries(self) -> Binaries:
        return Binaries(Path((self.folder / "ready").read_text(encoding="utf-8")))

    def close(self) -> None:
        """Ends this use."""
        self._use.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def _new_folder() -> Path:
    """A folder for a cluster that the server's user owns, with room for a socket's path."""
    within = tempfile.gettempdir()
    short = within if len(os.fsencode(within)) < _LONGEST_SOCKET - 40 else "/tmp"  # noqa: S108 - made by mkdtemp
    folder = Path(tempfile.mkdtemp(prefix="klokka-pg-", dir=short))
    user = server_user()
    if user is not None:
        os.chown(folder, user.pw_uid, user.pw_gid)
    return folder


def _keep(folder: Path, binaries: Binaries) -> None:
    user = server_user()
    keeper = Path(__file__).with_name("postgres_keeper.py")
    subprocess.run(  # noqa: S603 - our own interpreter and file
        [
            sys.executable,
            "-IS",
            keeper,
            folder,
            binaries.folder / "pg_ctl",
            str(os.geteuid() if user is None else user.pw_uid),
        ],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        check=True,
    )


def _create(folder: Path, binaries: Binaries, standby_of: PostgresServer | None) -> None:
    data = str(folder / "data")
    if standby_of is None:
        # C.UTF-8 would do too, but its name differs between systems.
        binaries.run("initdb", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
    else:
        source = ("-h", str(standby_of.folder), "-U", "postgres")
        binaries.run("pg_basebackup", "-D", data, *source, "--write-recovery-conf", "--checkpoint=fast", "--no-sync")


def _start(folder: Path, binaries: Binaries, *, durable: bool) -> None:
    with (folder / "data" / "postgresql.conf").open("a", encoding="utf-8") as configuration:
        configuration.write(_CONFIGURATION.format(folder=folder) + ("" if durable else _FORGETFUL))
    binaries.run("pg_ctl", "start", *_cluster(folder))


def _cluster(folder: Path) -> tuple[str, ...]:
    return ("-w", "-t", "60", "-D", f"{folder}/data", "-l", f"{folder}/log")
