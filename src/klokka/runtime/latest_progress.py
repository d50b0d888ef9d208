"""Progress on its way to a store that may be slower than those who tell it."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

Report = Callable[[float], Awaitable[None]]


class LatestProgress:
    """Reports one value at a time and always the newest, so that many never queue up behind a slow store."""

    def __init__(self, report: Report | None) -> None:
        self._report = report
        self._next: float | None = None
        self._task: asyncio.Task[None] | None = None

    def tell(self, value: float) -> None:
        self._next = value
        if self._report is not None and (self._task is None or self._task.done()):
            self._task = asyncio.create_task(self._pass_on(self._report))

    async def settle(self) -> None:
        """Returns when the last value told has been reported."""
        if self._task is not None:
            await self._task

    def drop(self) -> None:
        """Reports no more."""
        if self._task is not None:
            self._task.cancel()

    async def _pass_on(self, report: Report) -> None:
        while self._next is not None:
            value, self._next = self._next, None
            with suppress(Exception):
                await report(value)
