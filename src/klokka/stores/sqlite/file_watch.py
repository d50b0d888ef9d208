"""Notices that somebody writes to a file, by the kernel's inotify where there is one."""

import ctypes
import os
import sys
from pathlib import Path
from typing import Final

_MODIFIED: Final = 0x2


class FileWatch:
    """A descriptor that becomes readable when the file has been written to. It tells neither what nor by whom."""

    def __init__(self, path: Path) -> None:
        """Watches `path`.

        Raises:
            OSError: the system has no inotify, its limit of watches is reached, or the file is missing.
        """
        if sys.platform != "linux":
            raise OSError("this system has no inotify")
        libc = ctypes.CDLL(None, use_errno=True)
        self._path = path
        self._descriptor = _checked(libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC))
        try:
            self._inode = path.stat().st_ino
            _checked(libc.inotify_add_watch(self._descriptor, os.fsencode(path), _MODIFIED))
        except BaseException:
            os.close(self._descriptor)
            raise

    def fileno(self) -> int:
        """The descriptor to wait for."""
        return self._descriptor

    def stirred(self) -> bool:
        """Whether the file was written to since the last call."""
        try:
            return bool(os.read(self._descriptor, 4096))
        except BlockingIOError:
            return False

    def stands(self) -> bool:
        """Whether the watched file is still the one at its path."""
        try:
            return self._path.stat().st_ino == self._inode
        except OSError:
            return False

    def close(self) -> None:
        """Ends the watch."""
        os.close(self._descriptor)


def _checked(result: int) -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result
