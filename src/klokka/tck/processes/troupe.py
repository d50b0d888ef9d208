"""The parent's side: starting, hearing, killing and stopping other processes. All of it blocks, on a thread."""

import base64
import json
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from klokka.tck.capabilities import Lacking
from klokka.tck.processes.roles import Orders

_START_WITHIN: Final = 30.0


@dataclass(frozen=True, slots=True)
class Line:
    """What a process said, and when it said so."""

    actor: str
    what: str
    at: float
    said: Any


class Actor:
    """One other process."""

    def __init__(self, orders: Orders, *, skew: float = 0) -> None:
        try:
            packed = base64.b64encode(pickle.dumps(orders))
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            raise Lacking(f"the factory's `reopen` cannot go to another process: {error}") from error
        self.name = orders.name
        self.lines: list[Line] = []
        self.stops: list[tuple[float, float]] = []
        """From when to when it stood still."""
        self._heard = threading.Condition()
        self._over = False
        self._complaints = tempfile.TemporaryFile()  # noqa: SIM115 - `close` does
        self._process = subprocess.Popen(  # noqa: S603 - this interpreter on a module of ours
            [sys.executable, "-m", "klokka.tck.processes.actor", str(skew)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._complaints,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
        assert self._process.stdin is not None  # noqa: S101 - they are pipes
        self._process.stdin.write(packed + b"\n")
        self._process.stdin.close()
        self._reader = threading.Thread(target=self._read, daemon=True, name=f"tck-reader-{self.name}")
        self._reader.start()

    def wait_for(self, lines: int, *, within: float = _START_WITHIN) -> None:
        """Returns when it has said so many lines.

        Raises:
            RuntimeError: it has not, within that many seconds; or it ended before.
        """
        with self._heard:
            enough = self._heard.wait_for(lambda: len(self.lines) >= lines or self._over, within)
        if len(self.lines) < lines:
            why = "said no more" if enough else f"said only {len(self.lines)} lines in {within:g} s"
            raise RuntimeError(f"the process {self.name} {why}: {self.complaints() or 'without a complaint'}")

    def kill(self) -> None:
        """Ends it in the middle of whatever it does, and hears the last that it said."""
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        self._reader.join()
        if self._process.stdout is not None:
            self._process.stdout.close()

    @contextmanager
    def stopped(self, *, by_itself: bool = False) -> Generator[None]:
        """It stands still meanwhile, wherever it was; or where it has said that it stops by itself."""
        since = time.monotonic()
        if by_itself:
            os.waitpid(self._process.pid, os.WUNTRACED)
        else:
            os.kill(self._process.pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(self._process.pid, signal.SIGCONT)
            self.stops.append((since, time.monotonic()))

    def complaints(self) -> str:
        """The end of what it wrote to its standard error."""
        self._complaints.seek(0)
        return self._complaints.read().decode(errors="replace").strip()[-2000:]

    def close(self) -> None:
        """Kills it and forgets its complaints."""
        self.kill()
        self._complaints.close()

    def _read(self) -> None:
        stream = self._process.stdout
        assert stream is not None  # noqa: S101 - it is a pipe
        for raw in stream:
            if raw.endswith(b"\n"):
                what, at, said = json.loads(raw)
                with self._heard:
                    self.lines.append(Line(self.name, what, at, said))
                    self._heard.notify_all()
        with self._heard:
            self._over = True
            self._heard.notify_all()


class Troupe:
    """All processes of one check. They end with it, whatever happens."""

    def __init__(self, start: Callable[[str, int], Orders]) -> None:
        self._orders = start
        self.actors: list[Actor] = []

    def enter(self, role: str) -> Actor:
        """One more process in a role. It is ready when it says so; others go on meanwhile."""
        actor = Actor(self._orders(role, len(self.actors)))
        self.actors.append(actor)
        return actor

    def close(self) -> None:
        for actor in self.actors:
            actor.close()
