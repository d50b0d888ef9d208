"""huey on its SQLite storage: no-op jobs through one consumer process. Runs in huey's environment, beside no Klokka."""

import json
import logging
import resource
import sys
import threading
import time

from huey import SqliteHuey


def cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def main() -> None:
    options = json.loads(sys.argv[1])
    jobs = min(options["jobs"], 10_000)  # its rate does not depend on the number, and it needs its time
    logging.disable(logging.CRITICAL)  # it logs twice a job
    huey = SqliteHuey(filename=options["path"])  # synchronous: SQLite's own default, which is full
    ran = 0
    done = threading.Event()

    @huey.task()
    def nothing(_: int) -> None:
        nonlocal ran
        ran += 1
        if ran == jobs:
            done.set()

    for number in range(jobs):
        nothing(number)
    began, used = time.perf_counter(), cpu()
    consumer = huey.create_consumer(workers=1, periodic=False)
    consumer.start()
    done.wait()
    consumer.stop(graceful=True)
    seconds, spent = time.perf_counter() - began, cpu() - used
    print(json.dumps({"jobs/s": jobs / seconds, "jobs/cpu-s": jobs / spent}))


main()
