"""Cron over a queue that is not ours: a directory, in which each message is a file.

    python examples/recurring_over_a_directory.py outbox

Run it several times at once: one process holds the lease and writes, the others wait for their turn. What the ticker
has to remember, a lease, a cursor and the claimed keys, lives in a SQLite file beside; the jobs do not.
"""

import asyncio
import json
import secrets
import sys
from pathlib import Path

from klokka.errors import InvalidInput
from klokka.recurring import LeasedTicker, Request
from klokka.stores.sqlite.store import SqliteStore


class DirectoryQueue:
    """The whole adapter: it refuses what a directory cannot honour, and a file appears complete or not at all."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        directory.mkdir(parents=True, exist_ok=True)

    def admit(self, job: Request, /) -> None:
        if job.priority is not None or job.max_retries is not None or job.queue is not None:
            raise InvalidInput(f"{job.kind}: a directory has no queues, priorities or retries. Leave them out.")
        json.dumps(job.args)

    async def enqueue(self, job: Request, /) -> str:
        name = f"{job.kind}-{secrets.token_hex(8)}.json"
        message = {
            "kind": job.kind,
            "args": job.args,
            "for": None if job.scheduled_for is None else str(job.scheduled_for),
        }
        await asyncio.to_thread(self._write, name, json.dumps(message))
        return name

    def _write(self, name: str, text: str) -> None:
        part = self._directory / f".{name}"
        part.write_text(text, encoding="utf-8")
        part.replace(self._directory / name)


def make_ticker(directory: Path, state: SqliteStore) -> LeasedTicker:
    """The same in every replica."""
    ticker = LeasedTicker(DirectoryQueue(directory), state, state, tick_ms=200, lease_ms=3000)
    ticker.schedule_recurring("heartbeat", "* * * * *", args={"from": "klokka"})
    ticker.schedule_recurring("report.daily", "0 9 * * 1-5", zone="Europe/Oslo")
    return ticker


async def main(directory: Path) -> None:
    state = SqliteStore(directory / "state.db")
    await state.open()
    try:
        async with make_ticker(directory, state):
            await asyncio.Event().wait()
    finally:
        await state.close()


if __name__ == "__main__":
    outbox = Path(sys.argv[1] if len(sys.argv) > 1 else "outbox")
    outbox.mkdir(parents=True, exist_ok=True)
    asyncio.run(main(outbox))
