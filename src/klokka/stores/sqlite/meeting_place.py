"""Where the processes on one file find each other: a directory of sockets beside it."""

import contextlib
import os
import secrets
import socket
import stat
from pathlib import Path
from typing import Final

_SUFFIX: Final = ".sock"
_LONGEST: Final = 103
"""Bytes of a socket's path; Linux takes 107, macOS 103."""
_DESCRIPTORS: Final = "/proc/self/fd"
_TRIES: Final = 5


class MeetingPlace:
    """The directory `<file>-wakeups`, with one datagram socket in it for each listener.

    It stands beside the file, and not in a directory for temporary files, because that is the one place that all
    processes on the file agree on, whatever their environment, and that no cleaner empties.

    It is closed to other users of the machine: what they commit is noticed by looks alone.
    """

    def __init__(self, path: str) -> None:
        self._directory = Path(f"{path}-wakeups")
        self._descriptor: int | None = None

    def bind(self) -> tuple[socket.socket, Path]:
        """A socket that is listening, and its place.

        Raises:
            OSError: the directory cannot be written by us, or its file system knows no sockets.
        """
        for _ in range(_TRIES - 1):
            with contextlib.suppress(FileNotFoundError):  # the last to leave removed it just now
                return self._bind()
        return self._bind()

    def _bind(self) -> tuple[socket.socket, Path]:
        self._directory.mkdir(mode=0o700, exist_ok=True)
        place = self._directory / f"{os.getpid()}-{secrets.token_hex(6)}{_SUFFIX}"
        bound = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            bound.setblocking(False)
            bound.bind(self._address(place.name))
        except BaseException:
            bound.close()
            raise
        return bound, place

    def send(self, sender: socket.socket, message: bytes) -> None:
        """Sends `message` to every listener; never waits and never raises.

        A full queue means that a hint is waiting already. A refusing socket is what a dead process left: names are
        never used twice, so that removing it can hit no other.
        """
        try:
            names = os.listdir(self._directory)  # noqa: PTH208 - a third of the time of iterdir, on each commit
        except OSError:
            return
        for name in names:
            if not name.endswith(_SUFFIX):
                continue
            try:
                sender.sendto(message, self._address(name))
            except ConnectionRefusedError:
                with contextlib.suppress(OSError):
                    (self._directory / name).unlink()
            except OSError:
                continue

    def leave(self, place: Path) -> None:
        """Removes a listener's socket, and the directory after the last one."""
        with contextlib.suppress(OSError):
            place.unlink()
        with contextlib.suppress(OSError):
            self._directory.rmdir()

    def close(self) -> None:
        """Lets go of the directory."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _address(self, name: str) -> str:
        """The path of a socket in at most as many bytes as a socket's address takes.

        A longer one is reached through a descriptor of its directory, where the system has such paths.
        """
        full = str(self._directory / name)
        if len(os.fsencode(full)) <= _LONGEST or not Path(_DESCRIPTORS).is_dir():
            return full
        if self._descriptor is None or not self._current(self._descriptor):
            self.close()
            self._descriptor = os.open(self._directory, os.O_RDONLY | os.O_DIRECTORY)
        return f"{_DESCRIPTORS}/{self._descriptor}/{name}"

    def _current(self, descriptor: int) -> bool:
        """Whether the directory is still the one of the descriptor, for the last to leave removes it."""
        try:
            return os.path.samestat(os.fstat(descriptor), self._directory.stat())
        except OSError:
            return False


def exists(place: Path) -> bool:
    """Whether a socket stands at `place`."""
    try:
        return stat.S_ISSOCK(place.lstat().st_mode)
    except OSError:
        return False
