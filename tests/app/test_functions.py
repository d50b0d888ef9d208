"""Decorated functions: a kind, a payload, a handler, and still a function."""

import asyncio
import pickle
from datetime import timedelta
from functools import partial
from typing import Any

import pytest

import klokka
from klokka.app.functions import is_async, takes_job
from klokka.errors import InvalidInput, InvalidName, PayloadNotEncodable, PayloadUndecodable
from klokka.runtime.handlers import Executor
from klokka.stores.memory.store import MemoryStore

app = klokka.Klokka(MemoryStore())


@app.job("greet", queue="mail")
async def greet(name: str, times: int = 1) -> str:
    """Says hello."""
    return f"hello {name}" * times


def test_it_stays_callable_as_itself() -> None:
    assert asyncio.run(greet("x", times=2)) == "hello xhello x"
    assert greet.__name__ == "greet"
    assert greet.__doc__ == "Says hello."


def test_new_makes_a_request_of_its_arguments() -> None:
    request = greet.new("x", times=2)

    assert request == klokka.NewJob(kind="greet", payload='{"name":"x","times":2}', queue="mail")


def test_wrong_arguments_are_refused_before_anything_is_stored() -> None:
    with pytest.raises(PayloadNotEncodable, match="missing a required argument: 'name'"):
        greet.new()  # type: ignore[call-arg]


def test_it_travels_to_another_process_by_name() -> None:
    assert pickle.loads(pickle.dumps(greet)) is greet  # noqa: S301
    assert pickle.loads(pickle.dumps(greet.run)).__self__ is greet  # noqa: S301


@pytest.mark.parametrize("kind", ["Greet", "", "a b", "x" * 129])
def test_a_wrong_kind_is_refused_where_it_is_written(kind: str) -> None:
    with pytest.raises(InvalidName, match="kind"):

        @app.job(kind)
        def never() -> None: ...


def test_a_kind_has_one_handler() -> None:
    fresh = klokka.Klokka(MemoryStore())
    fresh.job("x")(print_nothing)

    with pytest.raises(InvalidInput, match="'x' has a handler already"):
        fresh.job("x")(print_nothing)


def print_nothing() -> None: ...


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"executor": "threads"}, "'threads' of 'x' is unknown. Use 'loop', 'thread' or 'process'"),
        ({"executor": "loop"}, "does not fit 'x', which is sync"),
        ({"timeout": timedelta(0)}, "timeout of 'x' must be longer than nothing"),
        ({"max_lapses": -1}, "max_lapses"),
        ({"queue": "Slow"}, "queue 'Slow'"),
    ],
    ids=str,
)
def test_an_option_that_does_not_fit_is_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        klokka.Klokka(MemoryStore()).job("x", **options)(print_nothing)


def test_async_goes_to_the_loop_and_sync_to_a_thread() -> None:
    fresh = klokka.Klokka(MemoryStore())
    fresh.job("sync")(print_nothing)
    fresh.job("async")(greet.function)

    assert fresh.handlers["sync"].executor is Executor.THREAD
    assert fresh.handlers["async"].executor is Executor.LOOP


class Callable:
    async def __call__(self, payload: int) -> None: ...

    def plain(self, payload: int, job: klokka.JobContext) -> None: ...


def test_async_is_seen_through_partials_methods_and_callable_objects() -> None:
    assert is_async(Callable())
    assert is_async(partial(greet.function, times=2))
    assert not is_async(Callable().plain)


def test_a_handler_takes_a_payload_and_perhaps_the_job() -> None:
    assert takes_job(Callable().plain)
    assert not takes_job(Callable())
    assert not takes_job(lambda payload, extra=None: None)

    for wrong in (lambda: None, lambda a, b, c: None, lambda payload, *, job: None):
        with pytest.raises(InvalidInput, match=r"takes \(payload\) or \(payload, job\)"):
            takes_job(wrong)


def test_a_kind_known_by_name_is_requested_with_its_text_checked() -> None:
    assert app.request("greet", '{"name":"x"}') == klokka.NewJob(kind="greet", payload='{"name":"x"}', queue="mail")

    with pytest.raises(PayloadUndecodable, match="name"):
        app.request("greet", "{}")
    with pytest.raises(InvalidInput, match=r"has the field '\$\.tiems', which greet does not know.* Known there: "):
        app.request("greet", '{"name":"x","tiems":2}')
    with pytest.raises(InvalidInput, match="greeet"):
        app.request("greeet", "{}")
