"""The limit: a loop over Klokka's own table that claims and completes a hundred at a time, and does nothing else.

The same statements, indexes and durability as the store's, on one connection and one thread, without an event loop.
"""

import asyncio
import json
import time
from collections.abc import Callable
from contextlib import closing

from benchmarks.contenders.running import Options, Stopwatch, tell
from benchmarks.contenders.work import check_all_done, fill, nothing_to_do
from klokka import Klokka, NewJob
from klokka.stores._sql.statements import statement
from klokka.stores.sqlite.claims import joined
from klokka.stores.sqlite.connection import connect
from klokka.stores.sqlite.durability import Durability

BATCH = 100
LEASE = 30_000_000


async def prepare(app: Klokka, new: Callable[[int], NewJob], jobs: int) -> None:
    async with app:
        await fill(app, new, jobs)


def main(options: Options) -> None:
    app, new = nothing_to_do(options.url)
    asyncio.run(prepare(app, new, options.jobs))
    due, claim, settle = (
        statement("klokka.stores.sqlite", name) for name in ("claimable_due", "claim_jobs", "settle_jobs")
    )
    with closing(connect(options.path, Durability.MACHINE)) as connection:
        watch = Stopwatch()
        while True:
            now = time.time_ns() // 1000
            connection.execute("begin immediate")
            rows = connection.execute(joined(due, 1), ("default", "nothing", now, BATCH)).fetchall()
            ids = json.dumps([row[0] for row in rows])
            connection.execute(claim, (now + LEASE, "bare", ids))
            connection.execute("commit")
            if not rows:
                break
            connection.execute("begin immediate")
            connection.execute(settle, ("succeeded", now, ids, 1))
            connection.execute("commit")
        rates = watch.rates(options.jobs)
    asyncio.run(check_all_done(app, options.jobs))
    tell(rates)


main(Options.given())
