"""Opening, closing and loops: making an app opens nothing, and it belongs to the loop that first opens it."""

import asyncio
import threading
from collections.abc import Generator
from pathlib import Path

import pytest

import klokka
from klokka.errors import MisuseError, UnknownStore, UnsupportedByStore, WrongTransaction
from klokka.stores.memory.store import MemoryStore


@pytest.fixture
def app() -> Generator[klokka.Klokka]:
    app = klokka.Klokka(MemoryStore())
    yield app
    app.close_sync()


REQUEST = klokka.NewJob(kind="x", payload="{}")


def test_making_an_app_touches_no_file(tmp_path: Path) -> None:
    klokka.Klokka(f"sqlite:///{tmp_path}/jobs.db")

    assert list(tmp_path.iterdir()) == []


def test_an_unknown_store_is_refused_where_the_app_is_made() -> None:
    with pytest.raises(UnknownStore, match="redis"):
        klokka.Klokka("redis://localhost")


async def test_the_first_verb_opens_and_close_may_be_called_twice(app: klokka.Klokka) -> None:
    result = await app.enqueue(REQUEST)
    await app.close()
    await app.close()

    assert (await app.enqueue(REQUEST)).id > result.id
    await app.close()


async def test_blocks_share_one_handle_and_the_last_one_closes_it(app: klokka.Klokka) -> None:
    async with app:
        first = await app.opened()
        async with app:
            assert await app.opened() is first
        assert await app.opened() is first
        await app.enqueue(REQUEST)

    with pytest.raises(MisuseError):
        await first.enqueue([REQUEST])


async def test_another_loop_gets_a_clear_error_while_the_first_is_open(app: klokka.Klokka) -> None:
    await app.enqueue(REQUEST)

    with pytest.raises(MisuseError, match="open on another event loop"):
        await asyncio.to_thread(asyncio.run, app.enqueue(REQUEST))
    await app.close()


def test_a_loop_that_has_ended_does_not_keep_the_app(app: klokka.Klokka) -> None:
    asyncio.run(app.enqueue(REQUEST))
    asyncio.run(app.enqueue(REQUEST))

    assert asyncio.run(_count(app)) == 2


async def _count(app: klokka.Klokka) -> int:
    async with app:
        return sum([await app.get(klokka.JobId(number)) is not None for number in (1, 2, 3)])


def test_sync_verbs_work_from_many_threads(app: klokka.Klokka) -> None:
    results: list[klokka.EnqueueResult] = []
    threads = [threading.Thread(target=lambda: results.append(app.enqueue_sync(REQUEST))) for _ in range(8)]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)

    assert len({result.id for result in results}) == 8


async def test_sync_verbs_are_refused_where_they_would_block_a_loop(app: klokka.Klokka) -> None:
    with pytest.raises(MisuseError, match=r"Use `await app.enqueue\(…\)` here"):
        app.enqueue_sync(REQUEST)
    with pytest.raises(MisuseError, match=r"await app.get"):
        app.get_sync(klokka.JobId(1))


def test_a_wrong_transaction_is_refused(app: klokka.Klokka) -> None:
    with pytest.raises(WrongTransaction):
        app.enqueue_sync(REQUEST, tx=object())  # type: ignore[arg-type]


async def test_async_code_is_sent_to_a_thread_where_a_store_takes_blocking_transactions_alone(tmp_path: Path) -> None:
    app = klokka.Klokka(f"sqlite:///{tmp_path}/jobs.db")

    with pytest.raises(UnsupportedByStore, match=r"await asyncio.to_thread"):
        await app.enqueue(REQUEST, tx=object())  # type: ignore[arg-type]
    with pytest.raises(MisuseError, match=r"await asyncio.to_thread"):
        app.enqueue_sync(REQUEST, tx=object())  # type: ignore[arg-type]


def test_what_is_no_request_is_refused_with_what_to_do(app: klokka.Klokka) -> None:
    with pytest.raises(klokka.KlokkaError, match=r"cannot be {.kind.*Make one with `.new\(…\)`"):
        app.enqueue_sync({"kind": "x"})  # type: ignore[arg-type]


def test_operators_verbs_answer_from_sync_code(app: klokka.Klokka) -> None:
    job = app.enqueue_sync(REQUEST)

    assert app.cancel_sync(job.id) is True
    assert app.cancel_sync(job.id) is False
    assert app.wait_sync(job.id).summary.status == "cancelled"
    assert app.requeue_sync(job.id) is True
    assert app.delete_sync(job.id) is True
    assert app.get_sync(job.id) is None


def test_the_sync_side_starts_anew_after_it_was_closed(app: klokka.Klokka) -> None:
    first = app.enqueue_sync(REQUEST)
    app.close_sync()

    assert app.enqueue_sync(REQUEST).id > first.id


def test_a_sync_verb_under_way_ends_when_another_thread_closes_the_app(app: klokka.Klokka) -> None:
    job = app.enqueue_sync(REQUEST)
    ends: list[BaseException] = []

    def wait() -> None:
        try:
            app.wait_sync(job.id)
        except MisuseError as error:
            ends.append(error)

    waiting = threading.Thread(target=wait, daemon=True)
    waiting.start()
    while waiting.is_alive():  # closed before the wait began, it starts anew and is closed again
        app.close_sync()
        waiting.join(0.05)

    assert "closed while this verb ran" in str(ends[0])
    assert app.enqueue_sync(REQUEST).id > job.id


def test_a_store_that_lacks_a_capability_says_which() -> None:
    from klokka.app.capability import capable
    from klokka.spi.batch import BatchingStore

    class Bare:
        traits = MemoryStore().traits

    with pytest.raises(UnsupportedByStore, match=r"transition_many needs .* BatchingStore, which 'memory' lacks"):
        capable(Bare(), BatchingStore, "transition_many")  # type: ignore[arg-type]
