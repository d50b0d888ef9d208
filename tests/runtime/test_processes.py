"""What a pool of processes gives back: outcomes, errors, context and progress. One pool serves all tests here."""

from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from typing import Any

import pytest
import pytest_asyncio

from klokka.core.error_text import describe
from klokka.core.outcomes import Cancel, Outcome, Snooze
from klokka.errors import NotRetryable, PayloadUndecodable, ProcessFailure
from klokka.runtime.processes import ProcessPool
from tests.support import process_handlers as handlers
from tests.support.processes import NOON, claimed_job, process_handler

pytestmark = pytest.mark.asyncio(loop_scope="module")

SHORT = timedelta(seconds=5)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def pool() -> AsyncIterator[ProcessPool]:
    pool = ProcessPool(1)
    yield pool
    await pool.close(within=SHORT)


async def outcome_of(pool: ProcessPool, run: Callable[..., Any], payload: str = "") -> Outcome:
    handler = process_handler(run)
    return await pool.run(handler, claimed_job(handler, payload))


async def text_of(pool: ProcessPool, run: Callable[..., Any], payload: str = "") -> str:
    outcome = await outcome_of(pool, run, payload)
    assert isinstance(outcome, Cancel)
    return outcome.reason


async def test_what_the_handler_returns_comes_back(pool: ProcessPool) -> None:
    assert await outcome_of(pool, handlers.nothing) is None
    assert await outcome_of(pool, handlers.snooze, "1.5") == Snooze(timedelta(seconds=1.5))
    assert await outcome_of(pool, handlers.cancel, "enough") == Cancel("enough")


async def test_what_is_no_outcome_is_not_sent(pool: ProcessPool) -> None:
    assert await outcome_of(pool, handlers.return_a_lambda) is None


async def test_an_async_handler_runs_on_a_loop_of_its_own(pool: ProcessPool) -> None:
    assert await text_of(pool, handlers.cancel_from_a_coroutine, "job") == "job 7"


async def test_a_method_travels_with_its_object(pool: ProcessPool) -> None:
    assert await text_of(pool, handlers.Greeter("hello").greet, "world") == "hello world"


async def test_a_kind_that_gets_another_handler_runs_that(pool: ProcessPool) -> None:
    first = process_handler(handlers.Greeter("hello").greet, kind="test.replaced")
    second = process_handler(handlers.Greeter("goodbye").greet, kind="test.replaced")

    outcomes = [await pool.run(handler, claimed_job(handler, "x")) for handler in (first, second, first)]

    assert outcomes == [Cancel("hello x"), Cancel("goodbye x"), Cancel("hello x")]


async def test_the_current_job_is_known_in_the_child(pool: ProcessPool) -> None:
    told = await text_of(pool, handlers.tell_context)

    fields = (7, "test.tell_context", "slow", 2, 1, 11, "key", "nightly", NOON, NOON, 3, {"trace": "abc"}, False, True)
    assert told == repr(fields)


async def test_context_variables_do_not_pass_from_job_to_job(pool: ProcessPool) -> None:
    await text_of(pool, handlers.leave_a_context_variable, "the first")

    assert await text_of(pool, handlers.leave_a_context_variable, "the second") == "nothing"


async def test_one_child_serves_job_after_job(pool: ProcessPool) -> None:
    assert await text_of(pool, handlers.tell_pid) == await text_of(pool, handlers.tell_pid)


async def test_the_child_leads_a_group_of_its_own_and_leaves_signals_to_the_worker(pool: ProcessPool) -> None:
    assert await text_of(pool, handlers.tell_group) == await text_of(pool, handlers.tell_pid)
    assert await outcome_of(pool, handlers.signal_itself) is None


async def test_a_large_payload_arrives(pool: ProcessPool) -> None:
    assert await text_of(pool, handlers.cancel, "x" * 5_000_000) == "x" * 5_000_000


async def test_progress_is_reported_and_the_last_value_is_not_lost(pool: ProcessPool) -> None:
    handler = process_handler(handlers.report_progress)
    reported: list[float] = []

    async def report(value: float) -> None:
        reported.append(value)

    await pool.run(handler, claimed_job(handler), report)

    assert reported[-1] == 1.0
    assert set(reported[:-1]) <= {0.5}


async def test_a_report_that_fails_does_not_fail_the_job(pool: ProcessPool) -> None:
    handler = process_handler(handlers.report_progress)

    async def report(value: float) -> None:
        raise OSError("no store")

    assert await pool.run(handler, claimed_job(handler), report) is None


async def test_an_exception_comes_back_as_itself_with_its_traceback(pool: ProcessPool) -> None:
    with pytest.raises(ValueError, match="too odd") as caught:
        await outcome_of(pool, handlers.raise_value_error, "too odd")

    assert type(caught.value) is ValueError
    assert caught.value.args == ("too odd", 7)
    stored = describe(caught.value).traceback
    assert "in raise_value_error" in stored
    assert "the deeper reason" in stored
    assert "a note" in stored


async def test_an_undecodable_payload_is_told_as_such(pool: ProcessPool) -> None:
    handler = process_handler(handlers.nothing, handlers.undecodable, kind="test.undecodable")

    with pytest.raises(PayloadUndecodable, match="cannot read this"):
        await pool.run(handler, claimed_job(handler, "this"))


async def test_not_retryable_stays_so(pool: ProcessPool) -> None:
    with pytest.raises(NotRetryable, match="for good"):
        await outcome_of(pool, handlers.raise_not_retryable, "for good")


@pytest.mark.parametrize(
    ("run", "summary"),
    [
        (handlers.raise_odd, "process_handlers.OddError: 7 at home"),
        (handlers.raise_local, "LocalError: home"),
        (handlers.raise_huge, "ValueError: xxx"),
        (handlers.leave_by_sys_exit, "SystemExit: home"),
    ],
)
async def test_what_cannot_leave_the_process_is_represented(
    pool: ProcessPool, run: Callable[..., Any], summary: str
) -> None:
    with pytest.raises(ProcessFailure) as caught:
        await outcome_of(pool, run, "home")

    assert summary in str(caught.value)
    assert not isinstance(caught.value, NotRetryable)
    assert f"in {run.__name__}" in describe(caught.value).traceback


async def test_what_cannot_leave_the_process_is_still_not_retryable(pool: ProcessPool) -> None:
    with pytest.raises(ProcessFailure, match="OddLastingError: 7 at home") as caught:
        await outcome_of(pool, handlers.raise_odd_lasting, "home")

    assert isinstance(caught.value, NotRetryable)


async def test_a_handler_that_the_child_cannot_import_fails_its_job_each_time_and_no_other(pool: ProcessPool) -> None:
    before = await text_of(pool, handlers.tell_pid)
    handler = process_handler(handlers.ImportsOnlyHere())

    for _ in range(2):
        with pytest.raises(ModuleNotFoundError, match="klokka_no_such_module"):
            await pool.run(handler, claimed_job(handler))

    assert await text_of(pool, handlers.tell_pid) == before
