"""The limit: a loop over Klokka's own table that claims and completes a hundred at a time, and does nothing else.

One connection of the same driver, one thread, plain statements with the same fences and the same durability.
"""

import asyncio
from collections.abc import Callable

import psycopg

from benchmarks.contenders.bare_postgres import CLAIM, COMPLETE
from benchmarks.contenders.running import Options, Stopwatch, tell
from benchmarks.contenders.work import check_all_done, fill, nothing_to_do
from klokka import Klokka, NewJob

BATCH = 100


async def prepare(app: Klokka, new: Callable[[int], NewJob], jobs: int) -> None:
    async with app:
        await fill(app, new, jobs)


def main(options: Options) -> None:
    app, new = nothing_to_do(options.url)
    asyncio.run(prepare(app, new, options.jobs))
    with psycopg.connect(options.url, autocommit=True, prepare_threshold=0) as connection:
        connection.execute(
            "set enable_seqscan = off; set enable_bitmapscan = off; set enable_mergejoin = off", prepare=False
        )
        cursor = psycopg.RawCursor(connection)
        watch = Stopwatch()
        while rows := cursor.execute(CLAIM, [BATCH], binary=True).fetchall():
            cursor.execute(COMPLETE, [[row[0] for row in rows], [row[1] for row in rows]])
        rates = watch.rates(options.jobs)
    asyncio.run(check_all_done(app, options.jobs))
    tell(rates)


main(Options.given())
