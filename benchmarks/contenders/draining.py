"""One worker of Klokka's that drains what is enqueued."""

import asyncio

from benchmarks.contenders.running import Stopwatch
from benchmarks.contenders.work import nothing_to_do


class Drain:
    """An app with one kind, and drains of it."""

    def __init__(self, url: str) -> None:
        self.app, self.new = nothing_to_do(url, each=self._count)
        self._left = 0
        self._done = asyncio.Event()

    async def run(self, jobs: int) -> dict[str, float]:
        """The rates of a worker from its start to its end, which comes when it has run so many jobs."""
        self._left = jobs
        self._done.clear()
        watch = Stopwatch()
        async with self.app.worker():
            await self._done.wait()
        return watch.rates(jobs)

    def _count(self, _: int) -> None:
        self._left -= 1
        if not self._left:
            self._done.set()
