"""The door: what cannot be tried is refused with a clear message, and nothing hangs."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import pytest

from klokka.core.records import NewJob
from klokka.errors import StoreUnavailable
from klokka.stores.memory.store import MemoryStore
from klokka.tck.door import Unfit, Unreachable, examine
from klokka.tck.subject import Factory, Subject
from tests.support.subjects import memory_factory

MOMENT = timedelta(milliseconds=50)


def giving(subject: Any) -> Factory:
    @asynccontextmanager
    async def give() -> AsyncGenerator[Any]:
        yield subject() if callable(subject) else subject

    return give


async def test_a_right_factory_is_let_in_with_what_its_store_says_of_itself() -> None:
    seen = await examine(memory_factory())

    assert seen.traits is not None
    assert (seen.traits.name, seen.lacking) == ("memory", {})


async def test_the_same_data_twice_is_refused() -> None:
    store = MemoryStore()

    with pytest.raises(Unfit, match="the same data twice"):
        await examine(giving(lambda: Subject(store=store.new_handle())))


async def test_data_with_jobs_in_it_is_refused() -> None:
    @asynccontextmanager
    async def used() -> AsyncGenerator[Subject]:
        store = MemoryStore()
        await store.open()
        await store.enqueue([NewJob(kind="tck.door", payload="{}")])
        yield Subject(store=store)

    with pytest.raises(Unfit, match="data with jobs in it"):
        await examine(used)


async def test_a_store_without_a_verb_is_refused_by_its_name() -> None:
    class Half:
        async def open(self) -> None: ...

    with pytest.raises(Unfit, match="Half is no store: it has no claim, close, enqueue"):
        await examine(giving(Subject(store=Half())))  # type: ignore[arg-type]


async def test_what_is_no_factory_and_what_is_no_subject_are_refused() -> None:
    with pytest.raises(Unfit, match="the factory gave MemoryStore"):
        await examine(MemoryStore)  # type: ignore[arg-type]
    with pytest.raises(Unfit, match="the factory yielded MemoryStore"):
        await examine(giving(MemoryStore()))


async def test_a_factory_that_hangs_ends_at_the_bound() -> None:
    @asynccontextmanager
    async def hanging() -> AsyncGenerator[Subject]:
        await asyncio.Event().wait()
        yield Subject(store=MemoryStore())

    with pytest.raises(Unfit, match=r"no subject within 0\.05 s"):
        await examine(hanging, bound=MOMENT)


async def test_a_store_that_hangs_ends_at_the_bound() -> None:
    class Hangs(MemoryStore):
        async def claim(self, **_: Any) -> Any:
            await asyncio.Event().wait()

    with pytest.raises(Unfit, match=r"no end within 0\.05 s\n.*\n.*claim\("):
        await examine(memory_factory(Hangs), bound=MOMENT)


async def test_a_store_that_cannot_be_reached_is_told_from_a_wrong_factory() -> None:
    class Away(MemoryStore):
        async def open(self) -> None:
            raise StoreUnavailable("no server at 10.0.0.1")

    with pytest.raises(Unreachable, match=r"cannot be reached: no server at 10\.0\.0\.1"):
        await examine(memory_factory(Away))


async def test_a_factory_that_raises_is_said_to_have() -> None:
    def broken() -> Any:
        raise LookupError("which one?")

    with pytest.raises(Unfit, match=r"LookupError: which one\?"):
        await examine(broken)


@pytest.mark.parametrize("raised", [SystemExit(5), BaseException("base"), asyncio.CancelledError()])
async def test_what_is_no_exception_is_an_error_of_the_factory_or_the_store_too(raised: BaseException) -> None:
    @asynccontextmanager
    async def broken() -> AsyncGenerator[Subject]:
        raise raised
        yield Subject(store=MemoryStore())

    class Broken(MemoryStore):
        async def claim(self, **_: Any) -> Any:
            raise raised

    with pytest.raises(Unfit, match=f"the factory raised before it gave a subject: {type(raised).__name__}"):
        await examine(broken)
    with pytest.raises(Unfit, match=f"(?s)does not take one job: {type(raised).__name__}.*claim.*raised"):
        await examine(memory_factory(Broken))


async def test_what_a_store_states_of_itself_must_be_known() -> None:
    class Silent(MemoryStore):
        @property
        def traits(self) -> Any:
            raise RuntimeError("open me first")

    class Wordless(MemoryStore):
        traits = None  # type: ignore[assignment]

    with pytest.raises(Unfit, match="traits of Silent must be known before it is opened: RuntimeError: open me first"):
        await examine(memory_factory(Silent))
    with pytest.raises(Unfit, match="traits of Wordless are NoneType"):
        await examine(memory_factory(Wordless))


async def test_a_class_and_a_coroutine_are_told_from_what_was_meant() -> None:
    async def plain() -> Subject:
        return Subject(store=MemoryStore())

    with pytest.raises(Unfit, match="store is the class MemoryStore"):
        await examine(giving(Subject(store=MemoryStore)))  # type: ignore[arg-type]
    with pytest.raises(Unfit, match="the factory gave coroutine"):
        await examine(plain)  # type: ignore[arg-type]
