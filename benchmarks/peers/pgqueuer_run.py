"""PgQueuer: no-op jobs through one worker process, on asyncpg and uvloop. Runs in its own environment, beside no Klokka."""

import json
import resource
import sys
import time
from datetime import timedelta

import asyncpg
import uvloop
from pgqueuer import AsyncpgDriver, PgQueuer, Queries
from pgqueuer.types import QueueExecutionMode

CALL = 1_000
BATCH = 100


def cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


async def main() -> None:
    options = json.loads(sys.argv[1])
    connection = await asyncpg.connect(options["url"])
    driver = AsyncpgDriver(connection)
    queries = Queries(driver)
    await queries.install()
    ran = 0
    app = PgQueuer(driver)

    @app.entrypoint("nothing")
    async def nothing(_: object) -> None:
        nonlocal ran
        ran += 1

    jobs = options["jobs"]
    began = time.perf_counter()
    for start in range(0, jobs, CALL):
        count = min(CALL, jobs - start)
        await queries.enqueue(["nothing"] * count, [b'{"number":1}'] * count, [0] * count)
    enqueued = jobs / (time.perf_counter() - began)
    began, used = time.perf_counter(), cpu()
    await app.run(batch_size=BATCH, dequeue_timeout=timedelta(seconds=1), mode=QueueExecutionMode.drain)
    seconds, spent = time.perf_counter() - began, cpu() - used
    if ran != jobs:
        raise SystemExit(f"{ran} of {jobs} jobs have run")
    await connection.close()
    print(json.dumps({"jobs/s": jobs / seconds, "jobs/cpu-s": jobs / spent, "bulk jobs/s": enqueued}))


uvloop.run(main())
