"""The runner: what passes, fails and is skipped, and factories that do not do their part."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest

from klokka.core.records import EnqueueResult
from klokka.spi.query import QueryableStore
from klokka.stores.memory.store import MemoryStore
from klokka.tck.bench import Bench
from klokka.tck.check import Check
from klokka.tck.checks import every_check
from klokka.tck.endings import Ungiven
from klokka.tck.report import Failed, Passed, Skipped
from klokka.tck.run import run, run_check
from klokka.tck.subject import Subject
from klokka.tck.violations import expect
from tests.support.subjects import memory_factory

MOMENT = timedelta(milliseconds=50)


async def keeps(bench: Bench) -> None:
    await bench.enqueue_one()


async def breaks(bench: Bench) -> None:
    expect(await bench.store.enqueue([])).equals([1], "the contract says so")


async def raises(bench: Bench) -> None:
    raise ZeroDivisionError


async def hangs(bench: Bench) -> None:
    await asyncio.Event().wait()


def check_of(prove, **changes) -> Check:  # type: ignore[no-untyped-def] # noqa: ANN001, ANN003
    fields = {"name": prove.__name__, "group": "test", "clauses": ("claim.due",), "needs": (), "given": ()}
    return Check(**{**fields, **changes}, prove=prove)


async def test_a_check_that_returns_has_passed() -> None:
    result = await run_check(check_of(keeps), memory_factory())

    assert isinstance(result, Passed)


async def test_a_violation_says_the_clause_and_what_was_seen_and_expected() -> None:
    result = await run_check(check_of(breaks), memory_factory())

    assert isinstance(result, Failed)
    assert str(result.error) == "[claim.due] the contract says so\n  seen:     []\n  expected: [1]"
    assert str(result).startswith("test.breaks [claim.due]\n")


async def test_an_error_of_the_store_is_a_failure_with_its_cause() -> None:
    result = await run_check(check_of(raises), memory_factory())

    assert isinstance(result, Failed)
    assert isinstance(result.error.__cause__, ZeroDivisionError)


async def test_a_check_that_hangs_ends_at_its_bound() -> None:
    result = await run_check(check_of(hangs), memory_factory(), bound=MOMENT)

    assert isinstance(result, Failed)
    assert "no end within 0.05 s" in str(result.error)


async def test_what_a_subject_lacks_is_skipped_with_the_reason() -> None:
    @asynccontextmanager
    async def bare() -> AsyncGenerator[Subject]:
        yield Subject(store=MemoryStore())

    lacking_hand = await run_check(check_of(keeps, given=("advance",)), bare)
    lacking_capability = await run_check(check_of(keeps, needs=(QueryableStore, Lacked)), bare)

    assert lacking_hand == Skipped(check=lacking_hand.check, reason="the factory gives no `advance`")
    assert lacking_capability == Skipped(check=lacking_capability.check, reason="the store is no Lacked")


class Lacked:
    """No store is this."""


async def test_a_hand_that_a_check_did_not_name_is_a_skip_too() -> None:
    async def moves(bench: Bench) -> None:
        bench.move_clock(MOMENT)

    @asynccontextmanager
    async def bare() -> AsyncGenerator[Subject]:
        yield Subject(store=MemoryStore())

    result = await run_check(check_of(moves), bare)

    assert result == Skipped(check=result.check, reason="the factory gives no `advance`")


async def test_a_factory_that_raises_at_its_beginning_is_said_to_have() -> None:
    @asynccontextmanager
    async def broken() -> AsyncGenerator[Subject]:
        raise ConnectionError("no server")
        yield Subject(store=MemoryStore())

    result = await run_check(check_of(keeps), broken)

    assert isinstance(result, Failed)
    assert str(result.error) == "the factory raised before it gave a subject: ConnectionError: no server"


async def test_a_factory_that_cannot_be_called_is_said_to_have_raised() -> None:
    def broken() -> None:
        raise ConnectionError("no server")

    result = await run_check(check_of(keeps), broken)  # type: ignore[arg-type]

    assert isinstance(result, Failed)
    assert "ConnectionError: no server" in str(result.error)


async def test_a_factory_that_hangs_ends_at_the_bound() -> None:
    @asynccontextmanager
    async def hanging() -> AsyncGenerator[Subject]:
        await asyncio.Event().wait()
        yield Subject(store=MemoryStore())

    result = await run_check(check_of(keeps), hanging, bound=MOMENT)

    assert isinstance(result, Failed)
    assert str(result.error) == "the factory gave no subject within 0.05 s."


async def test_a_factory_that_raises_or_hangs_at_its_end_fails_the_check() -> None:
    @asynccontextmanager
    async def raising() -> AsyncGenerator[Subject]:
        yield Subject(store=MemoryStore())
        raise ConnectionError("gone")

    @asynccontextmanager
    async def hanging() -> AsyncGenerator[Subject]:
        yield Subject(store=MemoryStore())
        await asyncio.Event().wait()

    raised = await run_check(check_of(keeps), raising)
    hung = await run_check(check_of(keeps), hanging, bound=MOMENT)

    assert isinstance(raised, Failed)
    assert str(raised.error) == "the factory raised when it ended: ConnectionError: gone"
    assert isinstance(hung, Failed)
    assert str(hung.error) == "the factory did not end within 0.05 s."


async def test_what_a_check_has_opened_is_closed_whatever_its_end() -> None:
    opened: list[MemoryStore] = []

    async def leaves_open(bench: Bench) -> None:
        await bench.handle()
        raise ZeroDivisionError

    class Noted(MemoryStore):
        async def open(self) -> None:
            opened.append(self)
            await super().open()

    await run_check(check_of(leaves_open), memory_factory(Noted))

    assert [store._loop for store in opened] == [None, None]


async def test_every_check_gets_fresh_data() -> None:
    async def first_id(bench: Bench) -> None:
        results = await bench.store.enqueue([bench.new()])
        expect(results).equals([EnqueueResult(id=1, created=True)], "the data is empty")  # type: ignore[arg-type]

    report = await run(memory_factory(), checks=[check_of(first_id), check_of(first_id)])

    assert len(report.passed) == 2


def test_every_check_has_an_id_of_its_own() -> None:
    checks = every_check()

    assert len(checks) > 250
    assert len({check.id for check in checks}) == len(checks)


@pytest.mark.parametrize("raised", [SystemExit(5), BaseException("base"), asyncio.CancelledError(), GeneratorExit()])
async def test_what_is_no_exception_is_an_error_of_the_store_too(raised: BaseException) -> None:
    async def raises_it(bench: Bench) -> None:
        raise raised

    result = await run_check(check_of(raises_it), memory_factory())

    assert isinstance(result, Failed)
    assert f"the store raised where the contract promises a result: {type(raised).__name__}" in str(result.error)


async def test_whoever_cancels_a_run_is_heard() -> None:
    running = asyncio.create_task(run_check(check_of(hangs), memory_factory()))
    await asyncio.sleep(0)
    running.cancel()

    with pytest.raises(asyncio.CancelledError):
        await running


async def test_a_factory_that_fails_breaks_no_clause() -> None:
    @asynccontextmanager
    async def broken() -> AsyncGenerator[Subject]:
        raise SystemExit(5)
        yield Subject(store=MemoryStore())

    result = await run_check(check_of(keeps), broken)

    assert isinstance(result, Failed)
    assert isinstance(result.error, Ungiven)
    assert result.clauses == ()
