"""The jobs: one number each, and a handler that does nothing with it."""

from collections.abc import Callable
from typing import Any

from klokka import Klokka, NewJob
from klokka.core.states import JobStatus

CALL = 1_000
"""Jobs in one call."""


def nothing_to_do(url: str, *, each: Callable[[int], None] = lambda _: None) -> tuple[Klokka, Callable[[int], NewJob]]:
    """An app with one kind, and how a request for it is made."""
    app = Klokka(url)

    @app.job("nothing")
    async def nothing(number: int) -> None:
        each(number)

    return app, nothing.new


async def fill(app: Klokka, new: Callable[[int], NewJob], jobs: int) -> None:
    """Enqueues them all."""
    for start in range(0, jobs, CALL):
        await app.enqueue_many([new(number) for number in range(start, min(start + CALL, jobs))])


async def check_all_done(app: Klokka, jobs: int) -> None:
    """Stops a run whose jobs did not all end well: a fast loss would be no figure."""
    store: Any = app.store.new_handle()
    await store.open()
    counts = await store.counts_by_status()
    await store.close()
    if counts[JobStatus.SUCCEEDED] != jobs:
        raise SystemExit(f"{counts[JobStatus.SUCCEEDED]} of {jobs} jobs have succeeded")
