"""The journal: what was asked and answered, on which handle, in few words."""

import pytest

from klokka.errors import InvalidInput
from klokka.spi.batch import BatchingStore
from klokka.spi.query import QueryableStore
from klokka.stores.memory.store import MemoryStore
from klokka.tck.bench import HOUR, SECOND, Bench
from klokka.tck.capabilities import Lacking, SchedulingStore
from klokka.tck.journal import Journal
from klokka.tck.subject import Subject


async def bench_of(store: MemoryStore) -> Bench:
    bench = Bench(Subject(store=store))
    await bench.open()
    return bench


async def test_calls_stand_with_arguments_and_answers_in_their_order() -> None:
    bench = await bench_of(MemoryStore())
    other = await bench.handle()

    await bench.enqueue_one(payload="x", run_at=HOUR)
    await other.next_due(queues=["default"], kinds=[])
    with pytest.raises(InvalidInput):
        await bench.claim(limit=-1)

    lines = [line.split(" s  ", 1)[1] for line in bench.journal.last()]
    assert lines[2] == "handle 1  enqueue([NewJob(kind='tck.job', payload='x', run_at=3600 s)]) → [job 1]"
    assert lines[3] == "handle 2  next_due(queues=['default'], kinds=[]) → None"
    assert "limit=-1" in lines[4]
    assert "→ raised InvalidInput: limit and caps" in lines[4]
    await bench.close()


async def test_what_is_no_call_is_noted_too() -> None:
    moved: list[object] = []
    bench = Bench(Subject(store=MemoryStore(), advance=moved.append))

    await bench.pass_time(SECOND)

    assert bench.journal.last()[0].endswith("the kit   moves the store's clock by 0:00:01")


async def test_the_last_entries_are_kept_and_all_are_counted() -> None:
    bench = await bench_of(MemoryStore())

    for _ in range(300):
        await bench.enqueue_one()

    assert len(bench.journal.last(15)) == 15
    assert bench.journal.count == 301
    await bench.close()


def test_a_watched_store_has_the_capabilities_of_the_store() -> None:
    class Core:
        """Has one verb of its own and none of the rest."""

        async def claim(self) -> None: ...

    whole = Journal().watch(MemoryStore())
    core = Journal().watch(Core())  # type: ignore[arg-type]

    assert isinstance(whole, QueryableStore)
    assert isinstance(whole, BatchingStore)
    assert isinstance(whole, SchedulingStore)
    assert not isinstance(core, QueryableStore | SchedulingStore)
    with pytest.raises(Lacking, match="the store has no upsert_schedules"):
        core.upsert_schedules  # noqa: B018
    with pytest.raises(AttributeError, match="Core has no enqueue"):
        core.enqueue  # noqa: B018
