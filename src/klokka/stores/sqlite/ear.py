"""The hearing half of wakeups: datagrams of those who say it, and looks after those who cannot.

A commit of our own verbs is announced by a datagram. A commit on a user's own connection is not: it is noticed by the
write to the -wal file that comes a moment *before* the commit can be seen, followed by a few looks at the last id.
"""

import asyncio
import contextlib
import socket
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

from klokka.stores.sqlite.file_watch import FileWatch
from klokka.stores.sqlite.meeting_place import MeetingPlace, exists

_LOOKS: Final = (0.001, 0.003, 0.01, 0.05, 0.3, 1.0)
"""Pauses between looks after a write. The commit follows within a flush of the disk, mostly under a millisecond.

A worker's own sign of life is such a write: more looks would be more than a query a second where nothing happens.
"""
_CALM: Final = 2
"""Where in `_LOOKS` to stay while writes keep coming: a hundred looks a second beside the busiest neighbour."""
_SLOW_LOOK: Final = 1.0
_PATROL: Final = 5.0

Look = Callable[[bool], Awaitable[tuple[int, int]]]
"""Reads the last id, and the version of the data if it is asked for."""


class Ear:
    """One subscription. `hear` returns when something may have become claimable."""

    def __init__(self, path: str, look: Look) -> None:
        self._loop = asyncio.get_running_loop()
        self._meeting = MeetingPlace(path)
        self._log = Path(f"{path}-wal")
        self._look = look
        self._seen = (0, 0)
        self._awake = asyncio.Event()
        self._rung = False
        self._ended = False
        self._socket: socket.socket | None = None
        self._place: Path | None = None
        self._watch: FileWatch | None = None
        self._next_look: int | None = None

    async def open(self) -> None:
        """Returns when whatever is committed from now on will be heard."""
        self._bind()
        self._seen = await self._look(self._deaf)
        self._follow()
        self._seen = await self._look(self._deaf)

    async def hear(self) -> bool:
        """True after a commit that made work claimable, at times without one [wakeups.hint]; False after `end`."""
        while not self._ended:
            if self._rung:
                self._rung = False
                return True
            self._awake.clear()
            try:
                async with asyncio.timeout(self._pause()):
                    await self._awake.wait()
            except TimeoutError:
                if await self._looked() or self._repaired():
                    return True
        return False

    def end(self) -> None:
        """Lets `hear` return for good."""
        self._ended = True
        self._awake.set()

    def close(self) -> None:
        """Leaves nothing open and nothing in the directory."""
        self._unbind()
        self._unfollow()
        self._meeting.close()

    @property
    def _deaf(self) -> bool:
        return self._socket is None

    def _pause(self) -> float:
        if self._next_look is not None:
            return _LOOKS[self._next_look]
        return _SLOW_LOOK if self._deaf or self._watch is None else _PATROL

    async def _looked(self) -> bool:
        """Takes a look where one is due; whether there is something new."""
        if self._ended or (self._next_look is None and self._watch is not None and not self._deaf):
            return False
        self._plan_next_look()
        now = await self._look(self._deaf)
        new = now[0] > self._seen[0] or now[1] != self._seen[1]
        self._seen = (max(now[0], self._seen[0]), now[1])
        return new

    def _plan_next_look(self) -> None:
        if self._next_look is None or self._watch is None:
            return
        if self._watch.stirred():
            self._next_look = min(self._next_look + 1, _CALM)
            return
        self._next_look = self._next_look + 1 if self._next_look + 1 < len(_LOOKS) else None
        if self._next_look is None or self._next_look > _CALM:
            self._loop.add_reader(self._watch.fileno(), self._on_write)

    def _on_write(self) -> None:
        """Somebody writes: the watch rests during the quick looks, so that a busy neighbour costs no more than they."""
        if self._watch is not None:
            self._loop.remove_reader(self._watch.fileno())
            self._watch.stirred()
            self._next_look = 0
            self._awake.set()

    def _on_datagram(self) -> None:
        assert self._socket is not None  # noqa: S101
        with contextlib.suppress(BlockingIOError):
            while True:
                message = self._socket.recv(64)
                if message.isdigit():
                    self._seen = (max(int(message), self._seen[0]), self._seen[1])
        self._rung = True
        self._awake.set()

    def _repaired(self) -> bool:
        """Remakes what somebody removed; whether anything was, since hints may be lost then [wakeups.recover]."""
        if self._ended:
            return False
        broken = False
        if self._place is None or not exists(self._place):
            self._unbind()
            self._bind()
            broken = not self._deaf
        if self._watch is not None and not self._watch.stands():
            self._unfollow()
            self._follow()
            broken = True
        return broken

    def _bind(self) -> None:
        with contextlib.suppress(OSError):
            self._socket, self._place = self._meeting.bind()
            self._loop.add_reader(self._socket.fileno(), self._on_datagram)

    def _unbind(self) -> None:
        if self._socket is not None:
            self._loop.remove_reader(self._socket.fileno())
            self._socket.close()
            self._socket = None
        if self._place is not None:
            self._meeting.leave(self._place)
            self._place = None

    def _follow(self) -> None:
        with contextlib.suppress(OSError):
            self._watch = FileWatch(self._log)
            self._loop.add_reader(self._watch.fileno(), self._on_write)

    def _unfollow(self) -> None:
        if self._watch is not None:
            self._loop.remove_reader(self._watch.fileno())
            self._watch.close()
            self._watch = None
        self._next_look = None
