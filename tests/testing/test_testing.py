"""What users' own tests stand on: nothing runs by itself, time stands still, differences are told."""

from dataclasses import dataclass
from datetime import timedelta

import pytest

import klokka
import klokka.testing
from klokka.errors import MisuseError

app = klokka.Klokka("sqlite:///never-opened.db", retry=klokka.intervals(timedelta(minutes=1)))


@dataclass(frozen=True, slots=True)
class Receipt:
    order_id: int


RECEIPT = klokka.JobType("receipt.send", Receipt, queue="email")
sent: list[Receipt] = []


class Flaky(Exception):
    pass


@app.job("welcome")
async def welcome(user_id: int, locale: str = "en") -> None:
    if user_id < 0:
        raise Flaky("no such user")
    await app.enqueue(RECEIPT.new(Receipt(user_id)))


@app.job("endless")
async def endless() -> None:
    await endless.enqueue()


@app.job("cpu", executor="process")
def cpu(n: int) -> None:
    assert klokka.current_job().kind == "cpu"


def send(receipt: Receipt, job: klokka.JobContext) -> klokka.Outcome:
    if job.attempt == 1 and receipt.order_id == 13:
        return klokka.Cancel("unlucky")
    sent.append(receipt)
    return None


app.handle(RECEIPT, send)


async def test_nothing_runs_before_the_test_says_so() -> None:
    async with klokka.testing.run(app) as jobs:
        await welcome.enqueue(7)

        await jobs.assert_enqueued(welcome, user_id=7)
        await jobs.assert_not_enqueued(RECEIPT)


async def test_drain_runs_what_is_due_and_what_that_enqueues() -> None:
    async with klokka.testing.run(app) as jobs:
        await welcome.enqueue(8)

        ran = await jobs.drain()

        assert [(run.kind, run.status) for run in ran] == [("welcome", "succeeded"), ("receipt.send", "succeeded")]
        assert Receipt(8) in sent


async def test_a_retry_waits_until_the_clock_is_moved() -> None:
    async with klokka.testing.run(app) as jobs:
        await welcome.enqueue(-1)

        first = await jobs.drain()
        jobs.clock.advance(minutes=1)
        second = await jobs.drain()

        assert [(run.attempt, run.status, type(run.error)) for run in first + second] == [
            (1, "failed", Flaky),
            (2, "dead_lettered", Flaky),
        ]


async def test_listeners_of_the_app_have_heard_of_runs_when_drain_returns() -> None:
    heard: list[str] = []
    noisy = klokka.Klokka("memory:", retry=klokka.intervals(timedelta(minutes=1)))

    @noisy.job("fails")
    def fails() -> None:
        raise Flaky

    @noisy.on(klokka.Started)
    @noisy.on(klokka.Failed)
    async def listen(event: object) -> None:
        heard.append(type(event).__name__)

    @noisy.on(klokka.DeadLettered)
    def page(event: klokka.DeadLettered) -> None:
        heard.append(f"dead: {type(event.error).__name__} at attempt {event.attempt}")

    async with klokka.testing.run(noisy) as jobs:
        await fails.enqueue()

        await jobs.drain()
        assert heard == ["Started", "Failed"]
        jobs.clock.advance(minutes=1)
        await jobs.drain()
        assert sorted(heard[2:]) == ["Started", "dead: Flaky at attempt 2"]


async def test_one_job_is_run_at_a_time_where_that_is_wanted() -> None:
    async with klokka.testing.run(app) as jobs:
        await welcome.enqueue(9)

        one = await jobs.run_one()

        assert one is not None
        assert one.kind == "welcome"
        await jobs.assert_enqueued(RECEIPT, Receipt(9))


async def test_outcomes_are_seen() -> None:
    async with klokka.testing.run(app) as jobs:
        await app.enqueue(RECEIPT.new(Receipt(13)))

        assert [run.status for run in await jobs.drain()] == ["cancelled"]


async def test_a_process_handler_runs_in_a_thread_here() -> None:
    async with klokka.testing.run(app) as jobs:
        await cpu.enqueue(1)

        assert [(run.status, run.error) for run in await jobs.drain()] == [("succeeded", None)]


async def test_a_foreign_transaction_is_taken_as_committed() -> None:
    class Session:
        async def execute(self, statement: object, /, *args: object, **kwargs: object) -> None: ...

    async with klokka.testing.run(app) as jobs:
        await app.enqueue(welcome.new(1), tx=Session())

        await jobs.assert_enqueued(welcome, user_id=1)


async def test_the_difference_is_readable() -> None:
    async with klokka.testing.run(app) as jobs:
        await welcome.enqueue(7)
        await app.enqueue(RECEIPT.new(Receipt(3)))

        with pytest.raises(AssertionError) as arguments:
            await jobs.assert_enqueued(welcome, user_id=8, locale="no")
        with pytest.raises(AssertionError) as payload:
            await jobs.assert_enqueued(RECEIPT, Receipt(4))
        with pytest.raises(AssertionError) as kind:
            await jobs.assert_enqueued(cpu, n=1)
        with pytest.raises(AssertionError) as unwanted:
            await jobs.assert_not_enqueued("welcome")

    assert str(arguments.value) == (
        "welcome(user_id=8, locale='no') is not enqueued.\n"
        "Enqueued of kind welcome:\n"
        "  job 1: user_id=7 (not 8), locale left out (not 'no')"
    )
    assert str(payload.value) == (
        "receipt.send with Receipt(order_id=4) is not enqueued.\n"
        "Enqueued of kind receipt.send:\n"
        "  job 2: Receipt(order_id=3)"
    )
    assert "No job of this kind waits. Waiting kinds: receipt.send, welcome." in str(kind.value)
    assert str(unwanted.value).startswith("welcome() is enqueued, as job 1 with")


async def test_jobs_that_enqueue_one_another_without_end_are_stopped() -> None:
    async with klokka.testing.run(app) as jobs:
        await endless.enqueue()

        with pytest.raises(klokka.KlokkaError, match="has run 20 jobs"):
            await jobs.drain(at_most=20)


async def test_an_open_app_is_not_taken_from_under_its_users() -> None:
    async with klokka.testing.run(app):
        with pytest.raises(MisuseError, match="the app is open"):
            async with klokka.testing.run(app):
                pass
