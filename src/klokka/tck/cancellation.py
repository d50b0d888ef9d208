"""Verbs that are cancelled on their way."""

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

R = TypeVar("R")


class Interrupted(Exception):
    """The verb was cancelled before it answered: its outcome is unknown."""


async def interrupted(verb: Awaitable[R], steps: int) -> R:
    """The answer of `verb`, if it comes within so many steps of the event loop.

    Raises:
        Interrupted: it did not, and was cancelled.
    """
    task = asyncio.ensure_future(verb)
    try:
        for _ in range(steps):
            if task.done():
                break
            await asyncio.sleep(0)
    finally:
        task.cancel()  # does nothing to one that is done
        await asyncio.wait([task])
    if task.cancelled():
        raise Interrupted
    return task.result()
