"""Arguments of the wrong class or range, as untyped code gives them: each is refused at once and by its name."""

from collections.abc import AsyncGenerator, Callable, Generator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import klokka
from klokka.errors import InvalidInput, InvalidName, InvalidTime, UnknownStore
from klokka.stores.memory.store import MemoryStore


def made(**settings: Any) -> klokka.Klokka:
    return klokka.Klokka(MemoryStore(), **settings)


def nothing(x: Any = None) -> None: ...


def yielding(x: Any = None) -> Generator[int]:
    yield 1


async def yielding_async(x: Any = None) -> AsyncGenerator[int]:
    yield 1


Wrong = Callable[[], Any]
NUMBER: Any = 30
SECOND = timedelta(seconds=1)
TYPE = klokka.JobType("t", int)
HOURLY = klokka.every(timedelta(hours=1))


def recurs(when: Any = HOURLY, request: Any = None, **more: Any) -> None:
    """A schedule of `TYPE`, unless another request is given."""
    made().recurring("r", when, request or TYPE.new(1), **more)


WRONG: dict[str, tuple[Wrong, type[Exception], str]] = {
    "a store that is not there": (lambda: klokka.Klokka(None), UnknownStore, "None. Give a URL"),  # type: ignore[arg-type]
    "a path for a store": (lambda: klokka.Klokka(Path("x")), UnknownStore, "Give a URL"),  # type: ignore[arg-type]
    "concurrency as text": (lambda: made(concurrency="3"), InvalidInput, "concurrency cannot be '3'"),
    "concurrency as a fraction": (lambda: made(concurrency=1.5), InvalidInput, "concurrency cannot be 1.5"),
    "one queue as text": (lambda: made(queues="default"), InvalidInput, "queues cannot be the text 'default'"),
    "a number for a queue": (lambda: made(queues=[1]), InvalidInput, "a queue cannot be 1"),
    "a lease without unit": (lambda: made(lease=30), InvalidTime, "lease cannot be 30. Give a timedelta"),
    "a lease that no claim could keep": (lambda: made(lease=timedelta(microseconds=1)), InvalidTime, "lease must be"),
    "a lease beyond the calendar": (lambda: made(lease=timedelta.max), InvalidTime, "lease must be"),
    "a grace without unit": (lambda: made(grace=30), InvalidTime, "grace cannot be 30. Give a timedelta"),
    "a negative grace": (lambda: made(grace=-SECOND), InvalidTime, "grace must be zero or longer"),
    "retry as a number": (lambda: made(retry=3), InvalidInput, "retry cannot be 3"),
    "retry 0": (lambda: made(retry=0), InvalidInput, "retry cannot be 0"),
    "retry as its own maker": (lambda: made(retry=klokka.exponential), InvalidInput, "retry cannot be <function exp"),
    "retention as a number": (lambda: made(retention=1), InvalidInput, "retention cannot be 1"),
    "job without a kind": (lambda: made().job(nothing), InvalidName, "kind cannot be <function nothing"),  # type: ignore[arg-type]
    "a queue that is None": (lambda: made().job("a", queue=None)(nothing), InvalidName, "queue cannot be None"),  # type: ignore[arg-type]
    "a timeout without unit": (lambda: made().job("a", timeout=NUMBER)(nothing), InvalidTime, "timeout of 'a' cannot"),
    "max_lapses as text": (lambda: made().job("a", max_lapses="x")(nothing), InvalidInput, "max_lapses of 'a'"),  # type: ignore[arg-type]
    "a kind's retry": (lambda: made().job("a", retry=NUMBER)(nothing), InvalidInput, "retry cannot be 30"),
    "a generator": (lambda: made().job("a")(yielding), InvalidInput, "has a yield in it"),
    "an async generator": (lambda: made().job("a")(yielding_async), InvalidInput, "has a yield in it"),
    "no function": (lambda: made().job("a")(None), InvalidInput, "the function of 'a' cannot be None"),  # type: ignore[arg-type]
    "a method that is not bound": (lambda: made().job("a")(Mailer.send), InvalidInput, "self would have to stand"),
    "a name for a kind": (lambda: made().handle("t", nothing), InvalidInput, "a kind cannot be 't'"),  # type: ignore[arg-type]
    "no handler": (lambda: made().handle(TYPE, None), InvalidInput, "the handler of 't' cannot be None"),  # type: ignore[arg-type]
    "an event by name": (lambda: made().on("Succeeded"), InvalidInput, "an event cannot be 'Succeeded'"),  # type: ignore[arg-type]
    "no listener": (lambda: made().on(klokka.Succeeded)(None), InvalidInput, "a listener cannot be None"),  # type: ignore[arg-type]
    "no interceptor": (lambda: made().intercept(None), InvalidInput, "an interceptor cannot be None"),  # type: ignore[arg-type]
    "a base without unit": (lambda: klokka.exponential(base=NUMBER), InvalidTime, "base cannot be 30"),
    "a factor as text": (lambda: klokka.exponential(factor="2"), InvalidInput, "factor cannot be '2'"),  # type: ignore[arg-type]
    "one error class": (lambda: klokka.exponential(never_on=ValueError), InvalidInput, "Give a tuple of classes"),  # type: ignore[arg-type]
    "no error class": (lambda: klokka.intervals(never_on=("x",)), InvalidInput, "never_on has 'x' in it"),  # type: ignore[arg-type]
    "a wait without unit": (lambda: klokka.intervals(NUMBER), InvalidTime, "a wait cannot be 30"),
    "a snooze without unit": (lambda: klokka.Snooze(NUMBER), InvalidTime, "Snooze delay cannot be 30"),
    "a reason that is no text": (lambda: klokka.Cancel(NUMBER), InvalidInput, "the reason of a Cancel cannot be 30"),
    "a cap as text": (lambda: klokka.Queue("a", concurrency="2"), InvalidInput, "concurrency of queue 'a'"),  # type: ignore[arg-type]
    "a negative retention": (lambda: klokka.RetentionPolicy(succeeded_for=-SECOND), InvalidTime, "succeeded_for must"),
    "a retention without unit": (lambda: klokka.RetentionPolicy(cancelled_for=NUMBER), InvalidTime, "cancelled_for"),
    "a delay without unit": (lambda: TYPE.new(1).options(delay=NUMBER), InvalidTime, "delay cannot be 30"),
    "a delay that is a time": (lambda: TYPE.new(1).options(delay=datetime.now(UTC)), InvalidTime, "delay cannot be"),  # type: ignore[arg-type]
    "a time in words": (lambda: TYPE.new(1).options(run_at="noon"), InvalidTime, "run_at cannot be 'noon'"),  # type: ignore[arg-type]
    "a key that is no text": (lambda: TYPE.new(1).options(unique_key=NUMBER), InvalidInput, "unique_key cannot be 30"),
    "headers that are none": (lambda: TYPE.new(1).options(headers=["a"]), InvalidInput, "headers cannot be"),  # type: ignore[arg-type]
    "a header that is no text": (lambda: TYPE.new(1).options(headers={"a": NUMBER}), InvalidInput, "header 'a'"),
    "an id as text": (lambda: made().get_sync("1"), InvalidInput, "the id of a job cannot be '1'"),  # type: ignore[arg-type]
    "no id": (lambda: made().cancel_sync(None), InvalidInput, "the id of a job cannot be None"),  # type: ignore[arg-type]
    "a wait of a number": (lambda: made().wait_sync(klokka.JobId(1), timeout=NUMBER), InvalidTime, "timeout cannot"),
    "a schedule as text": (
        lambda: recurs("0 9 * * *"),
        InvalidInput,
        "when of schedule 'r' cannot be '0 9 * * *'. Give",
    ),
    "a period for a schedule": (
        lambda: recurs(SECOND),
        InvalidInput,
        "when of schedule 'r' cannot be datetime.timedelta",
    ),
    "what decorates no function": (
        lambda: made().recurring("r", "@daily")(nothing),  # type: ignore[call-overload]
        InvalidInput,
        "when of schedule 'r' cannot be '@daily'",
    ),
    "a function for a request": (
        lambda: recurs(request=nothing),
        InvalidInput,
        "the request of schedule 'r' cannot be",
    ),
    "a policy by name": (lambda: recurs(misfire="skip"), InvalidInput, "misfire of schedule 'r' cannot be 'skip'"),
    "a policy as its class": (
        lambda: recurs(misfire=klokka.Skip),
        InvalidInput,
        "misfire of schedule 'r' cannot be <cl",
    ),
    "a number for a schedule": (
        lambda: made().schedules.trigger_now_sync(NUMBER),
        InvalidInput,
        "schedule 30 is not def",
    ),
    "overlap in words": (lambda: recurs(overlap="no"), InvalidInput, "overlap of schedule 'r' cannot be 'no'"),
    "one request for many": (lambda: made().enqueue_many_sync(TYPE.new(1)), InvalidInput, "Give a list of requests"),  # type: ignore[arg-type]
    "nothing among many": (lambda: made().enqueue_many_sync([None]), InvalidInput, "a request cannot be None"),  # type: ignore[list-item]
}


class Mailer:
    def send(self, to: str) -> None: ...


@pytest.mark.parametrize(("wrong", "error", "said"), WRONG.values(), ids=WRONG.keys())
def test_it_is_refused_at_once_and_named(wrong: Wrong, error: type[Exception], said: str) -> None:
    with pytest.raises(error) as refusal:
        wrong()

    assert said in str(refusal.value)


def test_requests_may_come_from_a_generator_and_all_are_stored() -> None:
    app = made()

    results = app.enqueue_many_sync(TYPE.new(number) for number in range(3))

    assert [app.get_sync(result.id) is not None for result in results] == [True] * 3
    app.close_sync()
