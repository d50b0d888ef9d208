"""Handlers that run in processes: what a user's module might hold, and worse."""

import ctypes
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextvars import ContextVar
from datetime import timedelta
from pathlib import Path
from typing import NoReturn, TextIO

from klokka.core.outcomes import Cancel, Outcome, Snooze
from klokka.errors import NotRetryable, PayloadUndecodable
from klokka.runtime.context import JobContext, current_job

LEFT_BEHIND: ContextVar[str] = ContextVar("left_behind", default="nothing")


def plain(text: str) -> str:
    return text


def undecodable(text: str) -> NoReturn:
    raise PayloadUndecodable(f"cannot read {text}")


def nothing(payload: str, job: JobContext) -> None:
    pass


def snooze(payload: str, job: JobContext) -> Outcome:
    return Snooze(timedelta(seconds=float(payload)))


def cancel(payload: str, job: JobContext) -> Outcome:
    return Cancel(payload)


def return_a_lambda(payload: str, job: JobContext) -> Callable[[], None]:
    return lambda: None


async def cancel_from_a_coroutine(payload: str, job: JobContext) -> Outcome:
    await job.progress(0.25)
    return Cancel(f"{payload} {current_job().id}")


def tell_pid(payload: str, job: JobContext) -> Outcome:
    return Cancel(str(os.getpid()))


def tell_group(payload: str, job: JobContext) -> Outcome:
    return Cancel(str(os.getpgrp()))


def tell_context(payload: str, job: JobContext) -> Outcome:
    now = current_job()
    told = (now.id, now.kind, now.queue, now.attempt, now.lapses, now.fence, now.unique_key, now.schedule_id)
    more = (now.scheduled_for, now.enqueued_at, now.payload_version, dict(now.headers), now.cancelled, now is job)
    return Cancel(repr((*told, *more)))


def leave_a_context_variable(payload: str, job: JobContext) -> Outcome:
    before = LEFT_BEHIND.get()
    LEFT_BEHIND.set(payload)
    return Cancel(before)


def report_progress(payload: str, job: JobContext) -> None:
    threads = [threading.Thread(target=job.progress_sync, args=(0.5,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    job.progress_sync(1.0)


class Greeter:
    def __init__(self, word: str) -> None:
        self.word = word

    def greet(self, payload: str, job: JobContext) -> Outcome:
        return Cancel(f"{self.word} {payload}")


# Errors


class OddError(Exception):
    """Pickles and does not come back: its `__init__` wants more than its `args`."""

    def __init__(self, code: int, *, place: str) -> None:
        super().__init__(f"{code} at {place}")


class OddLastingError(OddError, NotRetryable):
    pass


def raise_value_error(payload: str, job: JobContext) -> NoReturn:
    raise _noted(ValueError(payload, 7)) from KeyError("the deeper reason")


def _noted(error: ValueError) -> ValueError:
    error.add_note("a note")
    return error


def raise_not_retryable(payload: str, job: JobContext) -> NoReturn:
    raise NotRetryable(payload)


def raise_odd(payload: str, job: JobContext) -> NoReturn:
    raise OddError(7, place=payload)


def raise_odd_lasting(payload: str, job: JobContext) -> NoReturn:
    raise OddLastingError(7, place=payload)


def raise_local(payload: str, job: JobContext) -> NoReturn:
    class LocalError(Exception):
        pass

    raise LocalError(payload)


def raise_huge(payload: str, job: JobContext) -> NoReturn:
    raise ValueError("x" * 10_000_000)


def leave_by_sys_exit(payload: str, job: JobContext) -> NoReturn:
    sys.exit(payload)


class ImportsOnlyHere:
    """Pickles anywhere and cannot be loaded in a child."""

    def __reduce__(self) -> tuple[Callable[[str], object], tuple[str]]:
        return __import__, ("klokka_no_such_module",)

    def __call__(self, payload: str, job: JobContext) -> None: ...


# Deaths


def exit_at_once(payload: str, job: JobContext) -> NoReturn:
    os._exit(int(payload))


def kill_itself(payload: str, job: JobContext) -> None:
    os.kill(os.getpid(), signal.Signals[payload])
    time.sleep(60)


def fork_and_die(payload: str, job: JobContext) -> None:
    """Leaves a fork in a session of its own, which no group signal reaches, and dies."""
    hears, says = os.pipe()
    if os.fork() == 0:
        os.setsid()
        with _speaking(payload):
            os.write(says, b"apart")
            time.sleep(60)
        os._exit(0)
    os.read(hears, 10)
    os._exit(4)


# Handlers that do not end. Each says its pid into the fifo named by its payload, and holds it open until it is gone.


def sleep(payload: str, job: JobContext) -> None:
    with _speaking(payload):
        time.sleep(60)


def sleep_without_the_kernels_help(payload: str, job: JobContext) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, 0, 0, 0, 0)
    sleep(payload, job)


def hold_the_interpreter(payload: str, job: JobContext) -> None:
    with _speaking(payload):
        re.match(r"(a+)+$", "a" * 60 + "b")


def wait_for_a_program(payload: str, job: JobContext) -> None:
    """The program inherits the fifo, so that its end is seen too."""
    with Path(payload).open("w") as fifo:
        program = subprocess.Popen(["/bin/sleep", "60"], pass_fds=[fifo.fileno()])
        fifo.write(f"{os.getpid()}\n")
        fifo.flush()
        program.wait()


def signal_itself(payload: str, job: JobContext) -> None:
    os.kill(os.getpid(), signal.SIGINT)
    os.kill(os.getpid(), signal.SIGTERM)


def _speaking(path: str) -> TextIO:
    fifo = Path(path).open("w")  # noqa: SIM115
    fifo.write(f"{os.getpid()}\n")
    fifo.flush()
    return fifo
