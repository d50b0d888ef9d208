"""Klokka: what a worker uses while there is nothing to do, its other threads included."""

import asyncio
import sqlite3
import time
from functools import partial
from typing import Any

from benchmarks.contenders.running import Options, cpu, tell
from benchmarks.contenders.work import nothing_to_do

statements = 0
transactions = 0


def count(text: str) -> None:
    global statements, transactions
    statements += 1
    transactions += text.startswith("begin")


class Counted(sqlite3.Connection):
    """Counts what is sent on it, from whatever thread."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.set_trace_callback(count)


async def main(options: Options) -> None:
    sqlite3.connect = partial(sqlite3.connect, factory=Counted)
    app, _ = nothing_to_do(options.url)
    async with app.worker():
        await asyncio.sleep(min(1.0, options.seconds))
        began, used, sent, seen = time.perf_counter(), cpu(), statements, transactions
        await asyncio.sleep(options.seconds)
        passed = time.perf_counter() - began
        tell(
            {
                "% of a core": (cpu() - used) / passed * 100,
                "statements/s": (statements - sent) / passed,
                "transactions/s": (transactions - seen) / passed,
            }
        )


asyncio.run(main(Options.given()))
