"""Klokka: a worker waits here, and another process enqueues a job now and then with the time in it."""

import asyncio
import random
import sys
import time

from benchmarks.contenders.running import Options, tell
from benchmarks.contenders.work import nothing_to_do


async def work(options: Options) -> None:
    waits: list[float] = []
    done = asyncio.Event()

    def note(sent: int) -> None:
        waits.append((time.monotonic_ns() - sent) / 1e6)
        if len(waits) == options.jobs:
            done.set()

    app, _ = nothing_to_do(options.url, each=note)
    async with app.worker():
        producer = await asyncio.create_subprocess_exec(sys.executable, "-m", __spec__.name, *sys.argv[1:], "produce")
        await done.wait()
        await producer.wait()
    waits.sort()
    tell({"median ms": waits[len(waits) // 2], "p99 ms": waits[len(waits) * 99 // 100], "least ms": waits[0]})


async def produce(options: Options) -> None:
    """The monotonic clock is the machine's, so that both processes read the same."""
    app, new = nothing_to_do(options.url)
    async with app:
        for _ in range(options.jobs):
            await asyncio.sleep(random.uniform(0.02, 0.06))
            await app.enqueue(new(time.monotonic_ns()))


asyncio.run((produce if sys.argv[2:] == ["produce"] else work)(Options.given()))
