"""What runs in the process of a handler: one job after the other, as its worker says, for as long as that lives."""

import asyncio
import ctypes
import os
import pickle
import signal
import socket
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from contextvars import copy_context
from functools import partial
from multiprocessing import parent_process
from threading import Lock, Thread
from typing import Any, Final, cast

from klokka.core.outcomes import Cancel, Outcome, Snooze, check_ran
from klokka.core.records import ClaimedJob
from klokka.runtime.context import CURRENT, JobContext
from klokka.runtime.process_wire import (
    LENGTH,
    Answer,
    Assignment,
    Finished,
    FromChild,
    Progress,
    Ready,
    frame,
    represent,
)

FOR_THE_WORKER: Final = (signal.SIGINT, signal.SIGTERM)
"""Signals that go to a whole terminal or service, and that only the worker answers."""

_PR_SET_PDEATHSIG: Final = 1

Decode = Callable[[str], Any]
Run = Callable[[Any, JobContext], Awaitable[Outcome] | Outcome]


def serve(wire: socket.socket, worker: int) -> None:
    """Answers each assignment from `wire` with what its handler did, until the wire ends.

    The process leads a group of its own and ends with its worker, even one that was killed, in the middle of a
    handler too. Beyond Linux that waits for a handler that holds the interpreter's lock.
    """
    _stand_alone(wire)
    _end_with(worker)
    line = _Line(wire)
    handlers: dict[str, tuple[Decode, Run]] = {}
    with suppress(ConnectionError):  # the worker has gone, and with it the reason to be here
        line.send(Ready())
        while (assignment := line.receive()) is not None:
            line.send(copy_context().run(_perform, assignment, handlers, line))


class _Line:
    """The child's end of the wire. Handlers may have threads, so several may speak at a time."""

    def __init__(self, wire: socket.socket) -> None:
        self._stream = wire.makefile("rwb")
        self._speaking = Lock()

    def send(self, message: FromChild) -> None:
        framed = frame(message)
        with self._speaking:
            self._stream.write(framed)
            self._stream.flush()

    def tell(self, job: ClaimedJob, value: float) -> None:
        with suppress(OSError):
            self.send(Progress(job=job.id, value=value))

    async def report(self, job: ClaimedJob, value: float) -> None:
        self.tell(job, value)

    def receive(self) -> Assignment | None:
        """The next assignment, or None at the end."""
        head = self._stream.read(LENGTH.size)
        if len(head) < LENGTH.size:
            return None
        body = self._stream.read(LENGTH.unpack(head)[0])
        return cast(Assignment, pickle.loads(body))  # noqa: S301


def _perform(assignment: Assignment, handlers: dict[str, tuple[Decode, Run]], line: _Line) -> Answer:
    job = assignment.job
    try:
        if assignment.handler is not None:  # unpickled here, so that a failing import is the job's error
            handlers[job.kind] = pickle.loads(assignment.handler)  # noqa: S301
        decode, run = handlers[job.kind]
        context = JobContext(job, line)
        CURRENT.set(context)
        result = run(decode(job.payload), context)
        if isinstance(result, Awaitable):
            result = asyncio.run(_awaited(result))
        check_ran(result)
    except BaseException as error:  # a handler's sys.exit() fails its job and not the process
        return represent(error)
    return Finished(outcome=result if isinstance(result, Snooze | Cancel) else None)


async def _awaited(result: Awaitable[Outcome]) -> Outcome:
    return await result


def _stand_alone(wire: socket.socket) -> None:
    os.setpgid(0, 0)
    for number in FOR_THE_WORKER:
        signal.signal(number, _unheard)  # a function and not SIG_IGN, which the handler's own programs would inherit
    signal.pthread_sigmask(signal.SIG_UNBLOCK, FOR_THE_WORKER)
    wire.set_inheritable(False)
    os.register_at_fork(after_in_child=partial(_let_go, wire))


def _unheard(*_: object) -> None:
    """The worker has heard it too, and decides."""


def _let_go(wire: socket.socket) -> None:
    """In a fork of this process: else the wire would stay open when this process dies, and its worker wait on."""
    os.close(wire.detach())
    for number in FOR_THE_WORKER:
        signal.signal(number, signal.SIG_DFL)


def _end_with(worker: int) -> None:
    if (
        sys.platform == "linux"
    ):  # the kernel needs neither the interpreter's lock nor the end of a pipe that others may hold
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    if os.getppid() != worker:
        os._exit(1)
    Thread(target=_watch, name="klokka-worker-watch", daemon=True).start()


def _watch() -> None:
    worker = parent_process()
    if worker is not None:
        worker.join()
    os.killpg(os.getpid(), signal.SIGKILL)
