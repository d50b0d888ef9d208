"""Whose an open handle is: the process and the event loop that opened it [life.open]."""

import asyncio
import os
from typing import Protocol, TypeVar

from klokka.errors import MisuseError


class Session(Protocol):
    """The open half of a handle, which knows where it was opened."""

    loop: asyncio.AbstractEventLoop
    pid: int


S = TypeVar("S", bound=Session)


def open_here(session: S | None, where: str) -> S:
    """`session` itself, if it is open and belongs to the caller; `where` is how messages call the store.

    Raises:
        MisuseError: it is not open, or see `check_here`.
    """
    if session is None:
        raise MisuseError(f"The store on {where} is not open. Await open() first, or use it as the app's store.")
    check_here(session, where)
    return session


def check_here(session: Session, where: str) -> None:
    """Returns if the caller runs in the process and on the loop that `session` belongs to.

    Raises:
        MisuseError: it is a fork, or runs another loop.
    """
    if session.pid != os.getpid():
        raise MisuseError(
            f"The store on {where} was opened in process {session.pid}, of which this one is a fork. "
            "Open a new_handle() here; connections and threads do not cross a fork."
        )
    if session.loop is not asyncio.get_running_loop():
        raise MisuseError(f"The store on {where} is open on another event loop. Open a new_handle() on this one.")
