"""The worker's hold on one child: it hears it, gives it jobs, and sees it to its end."""

import asyncio
import atexit
import os
import pickle
import signal
import socket
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import replace
from multiprocessing import get_context, resource_tracker
from multiprocessing.context import SpawnProcess
from typing import Final, Self, cast

from klokka.core.records import ClaimedJob
from klokka.errors import ProcessFailure
from klokka.runtime.latest_progress import LatestProgress, Report
from klokka.runtime.process_child import FOR_THE_WORKER, serve
from klokka.runtime.process_wire import LENGTH, Answer, Assignment, Finished, FromChild, Progress, Ready, frame

_FIRST_LOOK: Final = 0.001
_LAST_LOOK: Final = 0.05
"""Seconds between looks at a process that is ending. No descriptor tells: a fork of it may hold the other end."""


class Child:
    """One process that runs one job at a time. `life` ends when the process is gone and nothing of it is left."""

    def __init__(self, process: SpawnProcess, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._process = process
        self._pid = cast(int, process.pid)
        self._reader = reader
        self._writer = writer
        self._known: dict[str, bytes] = {}
        self._ready = self._leaving = self._killed = self._gone = False
        self._job: ClaimedJob | None = None
        self._answer: asyncio.Future[Answer] | None = None
        self._progress = LatestProgress(None)
        self.life: Final = asyncio.create_task(self._live(), name=f"klokka-process-{self._pid}")

    @classmethod
    async def spawn(cls) -> Self:
        """A child that is starting; what it is given meanwhile waits for it.

        Raises:
            ProcessFailure: the system gives no process.
        """
        ours, theirs = socket.socketpair()
        with theirs:
            reader, writer = await asyncio.open_connection(sock=ours)
            process = get_context("spawn").Process(target=serve, args=(theirs, os.getpid()), name="klokka-handler")
            try:
                with _signals_held():
                    process.start()
            except BaseException as error:
                writer.close()
                if isinstance(error, OSError):
                    raise ProcessFailure(
                        f"a handler's process could not be started: {error}. Use fewer slots."
                    ) from error
                raise
        atexit.register(process.kill)  # else an interpreter that leaves without closing its pool would wait for it
        return cls(process, reader, writer)

    @property
    def alive(self) -> bool:
        """Whether it can be given a job, as far as one can know."""
        return not (self._reader.at_eof() or self.life.done())

    async def perform(self, handler: bytes, job: ClaimedJob, report: Report | None) -> Answer:
        """What the pickled `handler` did. Of its progress the newest value is reported, and errors of that are dropped.

        Raises:
            ProcessFailure: the process ended first.
        """
        known = self._known.get(job.kind) is handler
        plain = replace(job, headers=dict(job.headers))  # stores may hand out views, which do not pickle
        self._job = job
        self._answer = asyncio.get_running_loop().create_future()
        self._progress = LatestProgress(report)
        try:
            self._writer.write(frame(Assignment(handler=None if known else handler, job=plain)))
            answer = await self._answer
            await self._progress.settle()
        finally:
            self._progress.drop()
            self._answer = self._job = None
        if isinstance(answer, Finished):  # after an error the child may not have been able to import it
            self._known[job.kind] = handler
        return answer

    def leave(self) -> None:
        """Lets an idle child end by itself, as any Python process does."""
        self._leaving = True
        self._writer.write_eof()

    def kill(self) -> None:
        """Ends the process and the programs that it started, at once: its handler may be stuck beyond Python."""
        self._killed = True
        self._strike()

    async def end(self) -> None:
        """Kills it and returns when it is gone."""
        self.kill()
        await asyncio.shield(self.life)

    async def _live(self) -> None:
        try:
            await self._listen()
        finally:
            if not self._leaving:
                self._strike()  # without its wire it is of no use, and what it started may not outlive it
        exit_code = await self._exit_code()
        self._gone = True
        atexit.unregister(self._process.kill)
        self._process.close()
        self._writer.close()
        with suppress(OSError):
            await self._writer.wait_closed()
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(self._death(exit_code))

    async def _listen(self) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = await self._reader.readexactly(LENGTH.size)
                body = await self._reader.readexactly(LENGTH.unpack(head)[0])
                self._hear(pickle.loads(body))  # noqa: S301

    def _strike(self) -> None:
        if self._gone:  # its number may be another's by now
            return
        with suppress(OSError):  # it has not come to lead its group yet, or is gone
            os.killpg(self._pid, signal.SIGKILL)
        self._process.kill()
        self._writer.transport.abort()

    def _hear(self, message: FromChild) -> None:
        match message:
            case Ready():
                self._ready = True
            case Progress():
                if self._job is not None and self._job.id == message.job:
                    self._progress.tell(message.value)
            case _:
                if self._answer is not None and not self._answer.done():
                    self._answer.set_result(message)

    async def _exit_code(self) -> int:
        pause = _FIRST_LOOK
        while (code := self._process.exitcode) is None:
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LAST_LOOK)
        return code

    def _death(self, exit_code: int) -> ProcessFailure:
        if self._killed:
            return ProcessFailure("the handler's process was killed since its pool was closed.")
        how = f"exit code {exit_code}" if exit_code >= 0 else f"signal {-exit_code} ({_signal_name(-exit_code)})"
        if not self._ready:
            return ProcessFailure(
                f"the process for a handler ended by {how} before it was ready; its error output says why. "
                'A main file must start its worker below `if __name__ == "__main__":`, since the process imports it.'
            )
        hint = " Where nobody sent it, the system was out of memory." if exit_code == -signal.SIGKILL else ""
        return ProcessFailure(f"the handler's process ended by {how} before the handler did.{hint}")


@contextmanager
def _signals_held() -> Generator[None]:
    """Starts a process deaf to what a terminal sends to all, until it has its own ears."""
    resource_tracker.ensure_running()  # it would be started within, and unblocks the signals when it is
    before = signal.pthread_sigmask(signal.SIG_BLOCK, FOR_THE_WORKER)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # a real-time signal
        return "no common name"
