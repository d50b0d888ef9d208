"""The jobs: one number each, and a handler that does nothing with it."""

import sqlite3
from collections.abc import Callable
from contextlib import closing

from klokka import Klokka, NewJob

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


def check_all_done(path: str, jobs: int) -> None:
    """Stops a run whose jobs did not all end well: a fast loss would be no figure."""
    with closing(sqlite3.connect(path)) as connection:
        (done,) = connection.execute("select count(*) from klokka_jobs where status = 'succeeded'").fetchone()
    if done != jobs:
        raise SystemExit(f"{done} of {jobs} jobs have succeeded")
