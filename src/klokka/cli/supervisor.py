"""Keeps a number of worker processes running: starts them, starts them again when they die, stops them in order."""

import asyncio
import os
import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta


@dataclass(slots=True)
class Child:
    """One place for a process, and who sits in it now."""

    place: int
    process: asyncio.subprocess.Process | None = None
    deaths: int = 0
    watcher: asyncio.Task[None] | None = field(default=None, repr=False)


class Supervisor:
    """Runs `command` in `places` processes until stopped. A child that dies is replaced, later and later.

    Children lead no process group of their own: whoever stops this process stops them through `stop`.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        places: int,
        environment: Mapping[str, str],
        told: Callable[[str], None],
        output: int | None = asyncio.subprocess.DEVNULL,
    ) -> None:
        """`told` hears of deaths and new starts; `output` None lets the processes write where this one does."""
        self._command = tuple(command)
        self._environment = {**os.environ, **environment}
        self._told = told
        self._output = output
        self._children = [Child(place) for place in range(1, places + 1)]
        self._stopping = asyncio.Event()

    @property
    def pids(self) -> dict[int, int]:
        """The living process of each place."""
        return {
            child.place: child.process.pid
            for child in self._children
            if child.process is not None and child.process.returncode is None
        }

    async def start(self) -> None:
        """Starts a process in every place."""
        for child in self._children:
            await self._spawn(child)
            child.watcher = asyncio.create_task(self._watch(child))

    def kill(self, place: int) -> int:
        """Ends the process of a place with SIGKILL, as the kernel would; returns its pid."""
        pid = self.pids[place]
        os.kill(pid, signal.SIGKILL)
        return pid

    def send(self, number: signal.Signals) -> None:
        """Sends a signal to every living process."""
        for pid in self.pids.values():
            os.kill(pid, number)

    async def stop(self, within: timedelta) -> None:
        """Asks every process to drain, and kills those that have not ended in time. Nothing is left."""
        self._stopping.set()
        watchers = [child.watcher for child in self._children if child.watcher is not None]
        self.send(signal.SIGTERM)
        _, late = await asyncio.wait(watchers, timeout=within.total_seconds()) if watchers else (None, None)
        if late:
            self.send(signal.SIGKILL)
            await asyncio.wait(late)

    async def _spawn(self, child: Child) -> None:
        child.process = await asyncio.create_subprocess_exec(
            *self._command,
            env=self._environment,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=self._output,
            stderr=self._output,
            start_new_session=True,  # Ctrl-C in the terminal is ours to answer
        )

    async def _watch(self, child: Child) -> None:
        while child.process is not None:
            pid, code = child.process.pid, await child.process.wait()
            if self._stopping.is_set():
                return
            child.deaths += 1
            self._told(f"worker {child.place} (pid {pid}) died: {_describe(code)}")
            pause = asyncio.ensure_future(self._stopping.wait())
            await asyncio.wait([pause], timeout=min(0.1 * 2**child.deaths, 5.0))
            if pause.done():
                return
            pause.cancel()
            await self._spawn(child)
            self._told(f"worker {child.place} starts again (pid {child.process.pid})")


def _describe(code: int) -> str:
    if code < 0:
        return f"ended by {signal.Signals(-code).name}"
    return f"ended by itself with exit code {code}"
