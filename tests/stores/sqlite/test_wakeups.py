"""Hints reach every listener of the file, in whatever process, after the commit and whoever committed."""

import asyncio
import contextlib
import shutil
import socket
import sqlite3
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing, asynccontextmanager, closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from klokka.core.clocks import ManualClock
from klokka.core.ids import WorkerId
from klokka.core.records import JobQuery, NewJob
from klokka.core.states import Enqueued, Failed, Running, Scheduled
from klokka.stores.sqlite import Durability, SqliteStore
from klokka.stores.sqlite.meeting_place import MeetingPlace
from tests.support.sqlite_actor import WORK, actor, line

MINUTE = timedelta(minutes=1)
ME = WorkerId("me")
PATIENCE = 20.0
QUIET = 0.3


@asynccontextmanager
async def listening(store: SqliteStore) -> AsyncGenerator[AsyncGenerator[None]]:
    """A subscription whose first hint has come."""
    async with aclosing(store.wakeups()) as hints:
        await asyncio.wait_for(anext(hints), PATIENCE)
        yield hints


async def hinted(hints: AsyncGenerator[None]) -> None:
    await asyncio.wait_for(anext(hints), PATIENCE)


def sockets(store: SqliteStore) -> list[Path]:
    return sorted(Path(f"{store.path}-wakeups").glob("*.sock"))


async def claimed(store: SqliteStore) -> Any:
    await store.enqueue([WORK])
    (job,) = await store.claim(queues=["default"], kinds=["work"], limit=1, lease=MINUTE, worker=ME)
    return job


async def test_another_handle_hears_of_an_enqueue(store: SqliteStore) -> None:
    listener = store.new_handle()
    await listener.open()

    async with listening(listener) as hints:
        await store.enqueue([NewJob(kind="work", payload="{}", run_at=MINUTE)])
        await hinted(hints)

    await listener.close()


@pytest.mark.parametrize("to", [Enqueued(), Scheduled(at=MINUTE), Failed(retry_at=MINUTE)])
async def test_work_that_goes_back_is_heard_of(store: SqliteStore, to: Any) -> None:
    job = await claimed(store)

    async with listening(store) as hints:
        await store.transition(job.id, from_=Running(), to=to, fence=job.fence)
        await hinted(hints)


async def test_a_requeue_and_a_resumed_queue_are_heard_of(store: SqliteStore) -> None:
    job = await claimed(store)
    await store.cancel(job.id)
    await store.pause_queue("default", "for a test")

    async with listening(store) as hints:
        await store.requeue(job.id)
        await hinted(hints)
        await store.resume_queue("default")
        await hinted(hints)


async def test_processes_hear_each_other(store: SqliteStore) -> None:
    async with actor(Path(store.path), "listens") as process:
        assert await line(process) == "hint"

        await store.enqueue([WORK])

        assert await line(process) == "hint"


async def test_a_users_commit_in_another_process_is_heard_of_and_not_before_it(store: SqliteStore) -> None:
    async with actor(Path(store.path), "inserts") as process, listening(store) as hints:
        assert process.stdin is not None
        assert await line(process) == "ready"
        hint = asyncio.ensure_future(anext(hints))
        process.stdin.write(b"insert\n")
        assert await line(process) == "inserted"
        await asyncio.sleep(QUIET)
        assert not hint.done()

        process.stdin.write(b"commit\n")

        assert await line(process) == "committed"
        await asyncio.wait_for(hint, PATIENCE)
        assert len(await store.list_jobs(JobQuery())) == 1


async def test_a_users_rollback_owes_no_hint(store: SqliteStore) -> None:
    async with listening(store) as hints:
        with closing(sqlite3.connect(store.path)) as connection:
            store.enqueue_in_sync(connection, [WORK])
            connection.rollback()

        with pytest.raises(TimeoutError):
            await asyncio.wait_for(anext(hints), QUIET)


async def test_a_commit_without_new_work_owes_no_hint(store: SqliteStore) -> None:
    job = await claimed(store)

    async with listening(store) as hints:
        hint = asyncio.ensure_future(anext(hints))
        for _ in range(20):
            await store.heartbeat({job.id: job.fence}, worker=ME, extend=MINUTE)
        await asyncio.sleep(QUIET)

        assert not hint.done()
        hint.cancel()
        await asyncio.gather(hint, return_exceptions=True)


async def test_one_enqueue_gives_one_hint(store: SqliteStore) -> None:
    async with listening(store) as hints:
        await store.enqueue([WORK])
        await hinted(hints)

        with pytest.raises(TimeoutError):
            await asyncio.wait_for(anext(hints), QUIET)


async def test_a_users_commit_is_heard_of_while_a_neighbour_writes_all_the_time(store: SqliteStore) -> None:
    job = await claimed(store)
    stop = asyncio.Event()

    async def busy() -> None:
        while not stop.is_set():
            await store.heartbeat({job.id: job.fence}, worker=ME, extend=MINUTE)

    neighbour = asyncio.ensure_future(busy())
    async with listening(store) as hints:
        with closing(sqlite3.connect(store.path)) as connection:
            store.enqueue_in_sync(connection, [WORK])
            connection.commit()

        await hinted(hints)
    stop.set()
    await neighbour


async def test_what_a_dead_process_left_is_removed(store: SqliteStore) -> None:
    async with actor(Path(store.path), "listens") as process:
        assert await line(process) == "hint"
        (left,) = sockets(store)
        process.kill()
        await process.wait()

    await store.enqueue([WORK])

    assert left not in sockets(store)


async def test_a_socket_that_somebody_removed_is_remade_with_a_hint(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("klokka.stores.sqlite.ear._PATROL", 0.05)
    async with listening(store) as hints:
        await asyncio.to_thread(shutil.rmtree, Path(f"{store.path}-wakeups"))

        await hinted(hints)

        assert len(sockets(store)) == 1
        await store.enqueue([WORK])
        await hinted(hints)


async def test_a_path_too_long_for_a_socket_is_heard_too(tmp_path: Path, clock: ManualClock) -> None:
    directory = tmp_path / ("d" * 120)
    await asyncio.to_thread(directory.mkdir)
    store = SqliteStore(directory / "jobs.db", clock=clock, durability=Durability.PROCESS)
    await store.open()

    async with listening(store) as hints:
        assert len(sockets(store)) == 1
        await store.enqueue([WORK])
        await hinted(hints)
    async with listening(store) as hints:  # the directory is a new one now
        await store.enqueue([WORK])
        await hinted(hints)

    await store.close()


def deaf(self: MeetingPlace) -> Any:
    raise PermissionError("not for us")


def blind(path: Path) -> Any:
    raise OSError("no inotify here")


@pytest.mark.parametrize("without", [("sockets",), ("watch",), ("sockets", "watch")])
async def test_where_sockets_or_watches_are_missing_looks_take_their_place(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch, without: tuple[str, ...]
) -> None:
    if "sockets" in without:
        monkeypatch.setattr(MeetingPlace, "bind", deaf)
    if "watch" in without:
        monkeypatch.setattr("klokka.stores.sqlite.ear.FileWatch", blind)
        monkeypatch.setattr("klokka.stores.sqlite.ear._SLOW_LOOK", 0.05)
    job = await claimed(store)

    async with listening(store) as hints:
        await store.transition(job.id, from_=Running(), to=Enqueued(), fence=job.fence)
        await hinted(hints)
        with closing(sqlite3.connect(store.path)) as connection:
            store.enqueue_in_sync(connection, [WORK])
            connection.commit()
        await hinted(hints)


async def test_an_idle_listener_costs_next_to_nothing(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    async with listening(store) as hints:
        before = time.process_time()

        with pytest.raises(TimeoutError):
            await asyncio.wait_for(anext(hints), 1.0)

        assert time.process_time() - before < 0.05


@pytest.mark.parametrize("message", [b"", b"not a number", b"-5", b"9" * 64])
async def test_whatever_comes_through_the_socket_is_no_more_than_a_hint(store: SqliteStore, message: bytes) -> None:
    async with listening(store) as hints:
        place = MeetingPlace(store.path)
        with contextlib.closing(_sender()) as sender:
            place.send(sender, message)
        place.close()

        await hinted(hints)


def _sender() -> Any:
    sender = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    sender.setblocking(False)
    return sender
