"""Other processes on an SQLite store: `python -m tests.support.sqlite_actor FILE ROLE …`.

Each says on its standard output what it has done, a line each, so that tests wait for it and never for time.
"""

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from klokka.core.ids import WorkerId
from klokka.core.records import NewJob
from klokka.errors import StoreError
from klokka.stores.sqlite import Durability, SqliteStore

WORK: Final = NewJob(kind="work", payload="{}")
_BOUND: Final = 30.0


@asynccontextmanager
async def actor(path: Path, role: str, *arguments: object) -> AsyncGenerator[asyncio.subprocess.Process]:
    """Such a process, whose lines come from its `stdout`; killed at the end if it still lives."""
    command = [sys.executable, "-m", "tests.support.sqlite_actor", str(path), role, *map(str, arguments)]
    process = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE, stdin=subprocess.PIPE)
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def line(process: asyncio.subprocess.Process) -> str:
    """What it says next; empty at its end."""
    assert process.stdout is not None
    return (await asyncio.wait_for(process.stdout.readline(), _BOUND)).decode().strip()


async def write_many(store: SqliteStore, batches: str, size: str) -> None:
    """Enqueues batches one after the other and says the last id of each."""
    for _ in range(int(batches)):
        results = await store.enqueue([WORK] * int(size))
        say(results[-1].id)


async def claim_frozen(store: SqliteStore) -> None:
    """Is stopped in the middle of a claim, with the writer's place in hand."""

    def stop() -> datetime:
        say("frozen")
        os.kill(os.getpid(), signal.SIGSTOP)
        return datetime.now(UTC)

    frozen = SqliteStore(store.path, clock=stop)
    await frozen.open()
    claimed = await frozen.claim(
        queues=["default"], kinds=["work"], limit=1, lease=timedelta(minutes=1), worker=WorkerId("frozen")
    )
    say(len(claimed))
    await frozen.close()


async def listen(store: SqliteStore) -> None:
    """Says each hint."""
    async for _ in store.wakeups():
        say("hint")


async def insert_on_command(store: SqliteStore) -> None:
    """Enqueues in a transaction of its own connection at the first line, and commits it at the second."""
    with closing(sqlite3.connect(store.path)) as connection:
        say("ready")
        await asyncio.to_thread(sys.stdin.readline)
        store.enqueue_in_sync(connection, [WORK])
        say("inserted")
        await asyncio.to_thread(sys.stdin.readline)
        connection.commit()
        say("committed")


async def migrate(store: SqliteStore) -> None:
    """Opening has migrated."""
    say((await store.schema()).current)


async def write_as_nobody(store: SqliteStore) -> None:
    """Gives up its rights and says how writing ends."""
    await store.close()
    os.setuid(65534)
    try:
        await store.open()
        await store.enqueue([WORK])
        say("written")
    except StoreError as error:
        say(type(error).__name__)


async def forget(store: SqliteStore) -> None:
    """Ends without closing the store."""
    await store.enqueue([WORK])
    say("forgot")
    raise SystemExit(0)


ROLES: Final[dict[str, Callable[..., Awaitable[None]]]] = {
    "writes": write_many,
    "freezes": claim_frozen,
    "listens": listen,
    "inserts": insert_on_command,
    "migrates": migrate,
    "nobody": write_as_nobody,
    "forgets": forget,
}


def say(what: object) -> None:
    print(what, flush=True)


async def main(path: str, role: str, *arguments: str) -> None:
    store = SqliteStore(path, durability=Durability.PROCESS, busy_bound=timedelta(seconds=20))
    await store.open()
    await ROLES[role](store, *arguments)
    await store.close()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
