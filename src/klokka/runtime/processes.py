"""Handlers in processes: a pool of spawned children, one for each slot.

One dead child costs one job, and a job can be ended whatever it does. Jobs travel by kind and payload. Handlers travel
by name: `decode` and `run` of a `Handler` are pickled, so each must be what a fresh interpreter can import (a function
or class at the top level of a module, a method of a picklable object, or an object whose `__reduce__` gives its module
and qualified name, as decorated functions do). The name needs to be bound when the first job runs, not yet when
`check_portable` is called, so that a decorator may call it. The modules must come back to the same handlers when they
are imported again: a child does that with the main file too.

A handler may be sync or async; an async one has an event loop for each job. What it returns beside `Snooze` and
`Cancel` is not sent. Its logging is what its modules set up, on the error output that it shares with its worker.
"""

import asyncio
import pickle
import pickletools
import re
import sys
from datetime import timedelta
from pathlib import Path
from typing import Final

from klokka.core.outcomes import Outcome
from klokka.core.records import ClaimedJob
from klokka.errors import InvalidInput, MisuseError
from klokka.runtime.handlers import Handler
from klokka.runtime.latest_progress import Report
from klokka.runtime.process_handle import Child
from klokka.runtime.process_wire import Raised, revive

_UNNAMED: Final = re.compile(r"[\w.<>]*<(?:locals|lambda)>[\w.<>]*")


class ProcessPool:
    """Runs process handlers in at most `slots` children, each of them spawned when it is first needed.

    Children end with the process that holds the pool, even if that is killed. On Linux they end with the thread of its
    loop as well. Programs that a handler started end with their child when that dies or its job is cancelled.

    Raises:
        InvalidInput: `slots` is below 1.
    """

    def __init__(self, slots: int) -> None:
        if slots < 1:
            raise InvalidInput(f"slots of a process pool must be 1 or more, not {slots}.")
        self._free = asyncio.Semaphore(slots)
        self._pickled: dict[str, tuple[Handler, bytes]] = {}
        self._idle: list[Child] = []
        self._children: set[Child] = set()
        self._closed = False

    async def run(self, handler: Handler, job: ClaimedJob, report: Report | None = None) -> Outcome:
        """What the handler returned, from a child that waited or a fresh one; waits while all slots are taken.

        What it raised is raised here, with its own traceback as the cause. Cancelled, it kills the child and what
        that has started, and returns when the child is gone: no line of the handler runs afterwards. `report` gets
        the newest progress, best effort.

        Raises:
            ProcessFailure: the child died, of a signal or by exiting, which costs this job alone and can be retried;
                or the handler raised what cannot leave a process, then also `NotRetryable` where that was.
            MisuseError: the pool is closed.
            InvalidInput: see `check_portable`.
        """
        pickled = self._reference(handler)
        async with self._free:
            child = await self._take()
            try:
                if self._closed:
                    raise MisuseError(
                        "the pool of processes is closed. Jobs run between a worker's start and its stop."
                    )
                answer = await child.perform(pickled, job, report)
            except BaseException:
                await child.end()
                raise
            self._idle.append(child)
        if isinstance(answer, Raised):
            raise revive(answer)
        return answer.outcome

    async def close(self, *, within: timedelta) -> None:
        """Leaves no process: children at work are killed, idle ones may end by themselves and are killed after `within`.

        Idempotent. Jobs under way fail with `ProcessFailure`.
        """
        self._closed = True
        children = tuple(self._children)
        for child in children:
            if child in self._idle:
                child.leave()
            else:
                child.kill()
        self._idle.clear()
        lives = [child.life for child in children]
        if lives:
            try:
                await asyncio.wait(lives, timeout=within.total_seconds())
            finally:
                for child in children:
                    child.kill()
            await asyncio.wait(lives)

    def _reference(self, handler: Handler) -> bytes:
        """The same bytes for as long as a kind has the same handler, so that each child gets them once."""
        known = self._pickled.get(handler.kind)
        if known is None or known[0] is not handler:
            known = self._pickled[handler.kind] = (handler, _pickle(handler))
        return known[1]

    async def _take(self) -> Child:
        while self._idle:
            child = self._idle.pop()
            if child.alive:
                return child
        child = await Child.spawn()
        self._children.add(child)
        child.life.add_done_callback(lambda _: self._children.discard(child))
        return child


def check_portable(handler: Handler) -> None:
    """Refuses a handler that a child could never find: a lambda, a local function, a method of what cannot be pickled.

    Whether a name can be imported in the child shows when its first job runs, as that job's error.

    Raises:
        InvalidInput: it has no name to be imported by, or belongs to a main program that is not a file.
    """
    texts = _texts(_pickle(handler))
    for text in texts:
        if _UNNAMED.fullmatch(text):
            raise _not_portable(handler, f"{text} has no name that can be imported")
    if "__main__" in texts and not _main_can_be_imported():
        raise _not_portable(handler, "it belongs to a main program that is not a file")


def _pickle(handler: Handler) -> bytes:
    try:
        return pickle.dumps((handler.decode, handler.run))
    except Exception as error:  # pickling runs the methods of others, which may raise anything
        raise _not_portable(handler, str(error)) from error


def _texts(pickled: bytes) -> set[str]:
    """The names and other texts in a pickle. Loading it would tell more, but not before a decorator has returned."""
    return {argument for _, argument, _ in pickletools.genops(pickled) if isinstance(argument, str)}


def _main_can_be_imported() -> bool:
    main = sys.modules["__main__"]
    file: str | None = getattr(main, "__file__", None)
    return getattr(main, "__spec__", None) is not None or (file is not None and Path(file).is_file())


def _not_portable(handler: Handler, reason: str) -> InvalidInput:
    return InvalidInput(
        f"the handler of {handler.kind!r} cannot run in a process: {reason}. Write it at the top level of a module, "
        "a method on an object that can be pickled, or use executor='thread'."
    )
