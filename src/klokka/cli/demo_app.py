"""The app that `klokka demo` runs: kinds that succeed, fail and retry, take their time, and kill their worker."""

import asyncio
import os
import time
from datetime import timedelta
from pathlib import Path

import klokka.app.klokka as facade
from klokka.core.policies import exponential
from klokka.errors import KlokkaError, NotRetryable
from klokka.runtime.context import current_job

STORE = "KLOKKA_DEMO_STORE"
STARTS = "KLOKKA_DEMO_STARTS"
"""The folder in which each worker notes the starts of its handlers."""

app = facade.Klokka(
    os.environ.get(STORE, "memory:"),
    concurrency=16,
    lease=timedelta(seconds=1.5),
    grace=timedelta(seconds=3),
    # More attempts than its kills and failures can use up together: an attempt that is lost counts too.
    retry=exponential(base=timedelta(milliseconds=200), factor=2, max_attempts=10, jitter=0.2),
)


class SmtpTimeout(KlokkaError):
    """What a flaky mail server answers."""


def note_start() -> None:
    """Writes the start down outside of the store, so that the ledger at the end has a witness of its own.

    One small append for each start: it outlives a SIGKILL of this process.
    """
    folder = os.environ.get(STARTS)
    if folder:
        job = current_job()
        with (Path(folder) / f"{os.getpid()}.starts").open("a") as log:
            log.write(f"{job.id} {job.lapses}\n")


@app.job("demo.email")
async def email(number: int) -> None:
    """Most jobs: a short wait on somebody else's machine."""
    note_start()
    await asyncio.sleep(0.004 + number % 5 * 0.002)


@app.job("demo.thumbnail")
def thumbnail(number: int) -> None:
    """Sync work: it runs in a thread."""
    note_start()
    time.sleep(0.005 + number % 3 * 0.002)


@app.job("demo.webhook")
async def webhook(number: int) -> None:
    """Fails once or twice, then succeeds."""
    note_start()
    await asyncio.sleep(0.005)
    if current_job().attempt <= 1 + number % 2:
        raise SmtpTimeout(f"no answer for webhook {number}, attempt {current_job().attempt}")


@app.job("demo.report")
async def report(number: int) -> None:  # noqa: ARG001
    """Long enough to be in the middle of it when its worker is killed."""
    note_start()
    for part in range(10):
        await asyncio.sleep(0.04)
        await current_job().progress((part + 1) / 10)


@app.job("demo.broken")
async def broken(number: int) -> None:
    """An error that no retry mends."""
    note_start()
    raise NotRetryable(f"order {number} does not exist")


@app.job("demo.poison", max_lapses=1)
def poison(number: int) -> None:  # noqa: ARG001
    """Kills its worker each time, as a job does that eats all memory."""
    note_start()
    os._exit(137)
