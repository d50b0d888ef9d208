"""The limit: the same rows by `executemany`, a thousand in a transaction, and by single inserts."""

import asyncio
import time
from contextlib import closing

from benchmarks.contenders.running import Options, Stopwatch, tell
from benchmarks.contenders.work import CALL, nothing_to_do
from klokka.stores._sql.statements import statement
from klokka.stores.sqlite.connection import connect
from klokka.stores.sqlite.durability import Durability


async def prepare(options: Options) -> None:
    app, _ = nothing_to_do(options.url)
    async with app:
        pass


def main(options: Options) -> None:
    asyncio.run(prepare(options))
    insert = statement("klokka.stores.sqlite", "insert_job")
    now = time.time_ns() // 1000
    rows = [
        (number, "enqueued", "default", "nothing", 1, now, now, None, None, f'{{"number":{number}}}', None)
        for number in range(1, options.jobs + 1)
    ]
    singles = [(row[0] + options.jobs, *row[1:]) for row in rows[: max(1, options.jobs // 20)]]
    with closing(connect(options.path, Durability.MACHINE)) as connection:
        watch = Stopwatch()
        for start in range(0, options.jobs, CALL):
            connection.execute("begin immediate")
            connection.executemany(insert, rows[start : start + CALL])
            connection.execute("commit")
        bulk = watch.rates(options.jobs, "bulk ")
        watch = Stopwatch()
        for row in singles:
            connection.execute(insert, row)
        single = watch.rates(len(singles), "single ")
    tell({**bulk, **single})


main(Options.given())
