"""Klokka: a worker drains what was enqueued before it was started."""

import asyncio

from benchmarks.contenders.draining import Drain
from benchmarks.contenders.running import Options, tell
from benchmarks.contenders.work import check_all_done, fill


async def main(options: Options) -> None:
    drain = Drain(options.url)
    async with drain.app:
        await fill(drain.app, drain.new, options.jobs)
        rates = await drain.run(options.jobs)
    if options.url != "memory:":
        await check_all_done(drain.app, options.jobs)
    tell(rates)


asyncio.run(main(Options.given()))
