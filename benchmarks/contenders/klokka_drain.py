"""Klokka: a worker drains what was enqueued before it was started."""

import asyncio

from benchmarks.contenders.running import Options, Stopwatch, tell
from benchmarks.contenders.work import check_all_done, fill, nothing_to_do


async def main(options: Options) -> None:
    done = asyncio.Event()
    ran = 0

    def count(_: int) -> None:
        nonlocal ran
        ran += 1
        if ran == options.jobs:
            done.set()

    app, new = nothing_to_do(options.url, each=count)
    async with app:
        await fill(app, new, options.jobs)
        watch = Stopwatch()
        async with app.worker():
            await done.wait()
        rates = watch.rates(options.jobs)
    if options.url != "memory:":
        await check_all_done(app, options.jobs)
    tell(rates)


asyncio.run(main(Options.given()))
