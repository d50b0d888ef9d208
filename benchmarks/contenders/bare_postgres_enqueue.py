"""The limit: the same rows by `insert … select unnest`, a thousand in a call, and by single inserts."""

import asyncio

import psycopg

from benchmarks.contenders.bare_postgres import MANY, ONE, prepared
from benchmarks.contenders.running import Options, Stopwatch, tell
from benchmarks.contenders.work import CALL


async def measure(options: Options) -> None:
    singles = max(1, options.jobs // 20)
    async with await psycopg.AsyncConnection.connect(options.url, autocommit=True, prepare_threshold=0) as connection:
        cursor = psycopg.AsyncRawCursor(connection)
        watch = Stopwatch()
        for start in range(0, options.jobs, CALL):
            numbers = range(start, min(start + CALL, options.jobs))
            payloads = [f'{{"number":{number}}}' for number in numbers]
            await cursor.execute(MANY, [["default"] * len(numbers), ["nothing"] * len(numbers), payloads])
            await cursor.fetchall()
        bulk = watch.rates(options.jobs, "bulk ")
        watch = Stopwatch()
        for number in range(singles):
            await cursor.execute(ONE, ["default", "nothing", f'{{"number":{number}}}'])
            await cursor.fetchall()
        single = watch.rates(singles, "single ")
    tell({**bulk, **single})


def main(options: Options) -> None:
    asyncio.run(prepared(options))
    asyncio.run(measure(options))


main(Options.given())
