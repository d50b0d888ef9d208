"""`klokka worker` as a process, with its signals."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from klokka.core.states import JobStatus
from tests.support.shell import Shell, job

APP = """
    import asyncio
    from datetime import timedelta
    from klokka.app.klokka import Klokka

    app = Klokka("sqlite:///jobs.db", concurrency=4)

    @app.job("quick", queue="email")
    async def quick() -> None:
        print("ran", flush=True)

    @app.job("slow")
    async def slow(seconds: float) -> None:
        print("began", flush=True)
        await asyncio.sleep(seconds)
        print("ended", flush=True)
"""


@pytest.fixture
def site(shell: Shell) -> Shell:
    shell.write("site_app.py", APP)
    return shell


@contextmanager
def _worker(*options: str, app: str = "site_app:app") -> Iterator[subprocess.Popen[str]]:
    """A worker process, killed at the end if it is still there, and after half a minute whatever happens."""
    with subprocess.Popen(
        [sys.executable, "-m", "klokka", "worker", app, *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        watchdog = threading.Timer(30, process.kill)
        watchdog.start()
        try:
            yield process
        finally:
            watchdog.cancel()
            process.kill()


def _line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline()


def test_a_worker_says_what_it_serves_runs_jobs_and_ends_in_order(site: Shell) -> None:
    site.run("enqueue", "site_app:app", "quick")

    with _worker("--queue", "email=2", "--queue", "default", "--concurrency", "3", "--grace", "1m30s") as process:
        assert _line(process) == "ran\n"
        process.send_signal(signal.SIGTERM)
        _, log = process.communicate()

    assert process.returncode == 0
    assert "INFO    klokka.worker: site_app:app on sqlite " in log
    assert ": 3 slots, grace 1 m 30 s; queues email (at most 2), default; kinds quick, slow\n" in log
    assert "Traceback" not in log
    assert site.get("1").summary.status is JobStatus.SUCCEEDED
    assert not any(worker["live"] for worker in site.json("workers"))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_first_signal_lets_running_work_finish(site: Shell, number: signal.Signals) -> None:
    site.run("enqueue", "site_app:app", "slow", '{"seconds": 0.5}')

    with _worker() as process:
        assert _line(process) == "began\n"
        process.send_signal(number)
        output, _ = process.communicate()

    assert (process.returncode, output) == (0, "ended\n")
    assert site.get("1").summary.status is JobStatus.SUCCEEDED


def test_a_second_signal_does_not_wait(site: Shell) -> None:
    site.run("enqueue", "site_app:app", "slow", '{"seconds": 600}')

    with _worker() as process:
        assert _line(process) == "began\n"
        process.send_signal(signal.SIGTERM)
        assert process.stderr is not None
        while "SIGTERM" not in process.stderr.readline():
            assert process.poll() is None
        process.send_signal(signal.SIGTERM)
        output, log = process.communicate()

    assert "SIGTERM again" in log
    assert (process.returncode, output) == (0, "")
    assert site.get("1").summary.status is JobStatus.ENQUEUED


def test_the_app_may_be_named_in_the_environment(site: Shell) -> None:
    site.run("enqueue", "site_app:app", "quick")

    with subprocess.Popen(
        [sys.executable, "-m", "klokka", "worker", "--log-level", "error"],
        env={**os.environ, "KLOKKA_STORE": "", "KLOKKA_APP": "site_app:app"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        watchdog = threading.Timer(30, process.kill)
        watchdog.start()
        assert _line(process) == "ran\n"
        process.send_signal(signal.SIGTERM)
        _, log = process.communicate()
        watchdog.cancel()

    assert (process.returncode, log) == (0, "")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--queue", "A"), "for example 'a'"),
        (("--queue", "email=0"), "concurrency of queue 'email' must be 1 or more"),
        (("--queue", "email=many"), "the cap 'many' of queue 'email' is no number. Write it like email=4."),
        (("--queue", "email", "--queue", "email=2"), "queue 'email' is named twice"),
        (("--concurrency", "0"), "0 is not in the range"),
        (("--grace", "25"), "Did you mean 25s?"),
        (("--log-level", "loud"), "'loud' is not one of"),
    ],
)
def test_bad_options_are_refused_before_anything_starts(site: Shell, options: tuple[str, ...], message: str) -> None:
    result = site.run("worker", "site_app:app", *options)

    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr


def test_an_app_without_kinds_has_nothing_to_do(site: Shell) -> None:
    site.write("idle_app.py", 'from klokka.app.klokka import Klokka\napp = Klokka("sqlite:///jobs.db")\n')

    result = site.run("worker", "idle_app:app")

    assert result.exit_code == 2
    assert "no kind has a handler" in result.stderr


def test_a_store_alone_is_not_enough(site: Shell) -> None:
    result = site.run("worker")

    assert result.exit_code == 2
    assert "a store alone is named, and this needs an app." in result.stderr


def test_a_database_that_cannot_be_used_ends_the_worker_with_3(site: Shell) -> None:
    site.write("jobs.db", "not a database " * 100)

    with _worker() as process:
        _, log = process.communicate()

    assert process.returncode == 3
    assert "Error: " in log
    assert "Traceback" not in log


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signals_that_come_after_the_stop_change_nothing_of_its_end(site: Shell, number: signal.Signals) -> None:
    site.enqueue(job("quick", queue="email"))

    with _worker() as process:
        assert _line(process) == "ran\n"
        while process.poll() is None:
            process.send_signal(number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(0.01)

    assert process.returncode == 0
