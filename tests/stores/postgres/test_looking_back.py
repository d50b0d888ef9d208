"""What comes behind the place where claims begin is found by looking back, and no claim waits for that."""

from collections.abc import Awaitable, Callable

import psycopg
import pytest

from klokka.core.ids import JobId
from klokka.core.states import Running, Scheduled
from klokka.errors import StoreUnavailable
from klokka.stores.postgres.floors import LOOKS_BACK
from klokka.stores.postgres.store import PostgresStore
from tests.support.snapshots import HOUR, MINUTE, Beside, looks_back_by


async def put_late(beside: Beside) -> JobId:
    await beside.passed()
    (job,) = await beside.enqueue(1, ago=HOUR)
    return job


async def put_back(beside: Beside) -> JobId:
    await beside.passed()
    (job,) = await beside.claim(1)
    back = Scheduled(await beside.store.now() - HOUR)
    assert await beside.store.transition(job.id, from_=Running(), to=back, fence=job.fence, refund=True)
    return job.id


async def locked_when_passed(beside: Beside) -> JobId:
    first, *others = await beside.passed()
    with psycopg.connect(beside.where) as somebody:
        somebody.execute("select from klokka.jobs where id = %s for update", [first])
        assert await beside.ids(2) == others
    return first


async def resumed(beside: Beside) -> JobId:
    first, *_ = await beside.passed()
    await beside.store.pause_queue("default", "maintenance")
    assert await beside.ids(1) == []
    await beside.store.resume_queue("default")
    return first


@pytest.mark.parametrize("way", [put_late, put_back, locked_when_passed, resumed])
async def test_what_comes_behind_the_place_of_the_last_claim_is_given_after_a_second(
    beside: Beside, way: Callable[[Beside], Awaitable[JobId]]
) -> None:
    job = await way(beside)

    assert job not in await beside.ids(9)
    due = await beside.store.next_due(queues=beside.queues, kinds=["k"])
    assert due is not None
    assert due <= await beside.store.now() + LOOKS_BACK

    beside.time += 1
    assert (await beside.ids(9))[0] == job


async def test_whoever_has_looked_back_and_found_nothing_rests_as_long_as_ever(beside: Beside) -> None:
    await beside.passed()
    await beside.ids(9)
    beside.time += 1

    assert await beside.ids(9) == []

    due = await beside.store.next_due(queues=beside.queues, kinds=["k"])
    assert due is not None
    assert due > await beside.store.now() + MINUTE / 2


async def test_a_job_that_another_lets_go_of_without_a_word_is_found_by_whoever_rests(beside: Beside) -> None:
    first, *_ = await beside.passed()
    with psycopg.connect(beside.where) as somebody:
        beside.time += 1
        somebody.execute("select from klokka.jobs where id = %s for update", [first])
        assert first not in await beside.ids(9)  # which has looked back

    due = await beside.store.next_due(queues=beside.queues, kinds=["k"])
    assert due is not None
    assert due < await beside.store.now()
    await beside.ids(9)
    beside.time += 1
    assert await beside.ids(9) == [first]


async def test_no_claim_waits_for_a_look_back_that_takes_long(beside: Beside, monkeypatch: pytest.MonkeyPatch) -> None:
    waiting = await beside.passed()
    (early,) = await beside.enqueue(1, ago=HOUR)
    arrives = beside.holds_up_looks_back(monkeypatch)
    beside.time += 1

    assert await beside.ids(2) == waiting[:2]
    due = await beside.store.next_due(queues=beside.queues, kinds=["k"])
    assert due is not None
    assert due <= await beside.store.now() + LOOKS_BACK

    await arrives()
    assert await beside.ids(9) == [early, waiting[2]]


async def test_a_store_closes_in_the_middle_of_a_look_back(beside: Beside, monkeypatch: pytest.MonkeyPatch) -> None:
    await beside.passed()
    beside.holds_up_looks_back(monkeypatch)
    beside.time += 1
    await beside.ids(1)

    await beside.store.close()
    await beside.store.open()

    assert len(await beside.ids(9)) == 2


async def test_a_look_back_that_fails_is_told_and_made_again(
    beside: Beside, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    waiting = await beside.passed()
    (early,) = await beside.enqueue(1, ago=HOUR)
    with monkeypatch.context() as then:
        beside.holds_up_looks_back(then, error=StoreUnavailable("no such luck"))
        beside.time += 1
        assert await beside.ids(1) == waiting[:1]

    assert "passed over may wait longer (no such luck)" in caplog.text
    beside.time += 10
    assert await beside.ids(9) == [early, *waiting[1:]]


async def test_a_handle_with_one_connection_looks_back_too(beside: Beside) -> None:
    await beside.store.close()
    beside.store = PostgresStore(beside.where, connections=1)
    await beside.store.open()
    looks_back_by(beside.store, lambda: beside.time)
    waiting = await beside.passed()
    (early,) = await beside.enqueue(1, ago=HOUR)
    beside.time += 1

    assert await beside.ids(9) == [early, *waiting]
    await beside.store.close()
