"""A worker in a process of its own, to be stopped, frozen and killed: `python -m tests.support.killable FILE LEASE`.

It says on its standard output what its handlers do, a line each.
"""

import asyncio
import os
import signal
import sys
from datetime import timedelta
from typing import Any

from klokka.core.policies import Exponential
from klokka.runtime.bus import EventBus
from klokka.runtime.context import JobContext
from klokka.runtime.signals import run_until_signal
from klokka.runtime.worker import Worker
from klokka.stores.open import open_store
from tests.support.working import handler, settings


async def hold(seconds: float, job: JobContext) -> None:
    """Runs for so long."""
    say(f"began {job.id}")
    try:
        await asyncio.sleep(seconds)
    except asyncio.CancelledError:
        say(f"cancelled {job.id}")
        raise
    say(f"ended {job.id}")


async def kill(payload: Any, job: JobContext) -> None:
    """Kills its worker, as the kernel does when memory is out."""
    say(f"began {job.id}")
    os.kill(os.getpid(), signal.SIGKILL)


async def quick(payload: Any, job: JobContext) -> None:
    """Does nothing."""
    say(f"ended {job.id}")


def say(line: str) -> None:
    print(line, flush=True)


async def main(file: str, lease: str) -> None:
    store = open_store(f"sqlite:///{file}")
    retry = Exponential(base=timedelta(milliseconds=10))
    handlers = [
        handler(hold, kind="hold", retry=retry),
        handler(kill, kind="kill", retry=retry, max_lapses=1),
        handler(quick, kind="quick", retry=retry),
    ]
    worker = Worker(
        store,
        {each.kind: each for each in handlers},
        settings(lease=timedelta(seconds=float(lease)), poll=timedelta(seconds=0.1), grace=timedelta(seconds=60)),
        events=EventBus(),
    )
    say("up")
    await run_until_signal(worker)
    await store.close()
    say("down")


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
