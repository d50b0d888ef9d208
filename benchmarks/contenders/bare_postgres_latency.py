"""The limit: a bare LISTEN and a claim of one row here, and another process that inserts a row and notifies."""

import asyncio
import random
import sys
import time

import psycopg

from benchmarks.contenders.bare_postgres import CLAIM, ONE, prepared
from benchmarks.contenders.running import Options, tell


async def work(options: Options) -> None:
    await prepared(options)
    waits: list[float] = []
    listening = await psycopg.AsyncConnection.connect(options.url, autocommit=True)
    claiming = await psycopg.AsyncConnection.connect(options.url, autocommit=True, prepare_threshold=0)
    await listening.execute("listen bare")
    producer = await asyncio.create_subprocess_exec(sys.executable, "-m", __spec__.name, *sys.argv[1:], "produce")
    cursor = psycopg.AsyncRawCursor(claiming)
    async for _ in listening.notifies():
        rows = await (await cursor.execute(CLAIM, [10], binary=True)).fetchall()
        waits += [(time.monotonic_ns() - int(payload)) / 1e6 for _, _, payload in rows]
        if len(waits) == options.jobs:
            break
    await producer.wait()
    await listening.close()
    await claiming.close()
    waits.sort()
    tell({"median ms": waits[len(waits) // 2], "p99 ms": waits[len(waits) * 99 // 100], "least ms": waits[0]})


async def produce(options: Options) -> None:
    async with await psycopg.AsyncConnection.connect(options.url, autocommit=True, prepare_threshold=0) as connection:
        cursor = psycopg.AsyncRawCursor(connection)
        notifying = f"with stored as ({ONE}) select pg_notify('bare', '') from stored"
        for _ in range(options.jobs):
            await asyncio.sleep(random.uniform(0.02, 0.06))
            await cursor.execute(notifying.encode(), ["default", "nothing", str(time.monotonic_ns())])


if __name__ == "__main__":
    asyncio.run((produce if sys.argv[2:] == ["produce"] else work)(Options.given()))
