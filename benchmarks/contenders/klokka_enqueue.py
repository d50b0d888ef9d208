"""Klokka: enqueue in calls of a thousand, the requests made beforehand and made on the way, and one at a time."""

import asyncio

from benchmarks.contenders.running import Options, Stopwatch, tell
from benchmarks.contenders.work import CALL, fill, nothing_to_do


async def main(options: Options) -> None:
    app, new = nothing_to_do(options.url)
    requests = [new(number) for number in range(options.jobs)]
    singles = requests[: max(1, options.jobs // 20)]
    async with app:
        watch = Stopwatch()
        for start in range(0, options.jobs, CALL):
            await app.enqueue_many(requests[start : start + CALL])
        bulk = watch.rates(options.jobs, "bulk ")
        watch = Stopwatch()
        await fill(app, new, options.jobs)
        made = watch.rates(options.jobs, "made and bulk ")
        watch = Stopwatch()
        for request in singles:
            await app.enqueue(request)
        single = watch.rates(len(singles), "single ")
    tell({**bulk, **made, **single})


asyncio.run(main(Options.given()))
