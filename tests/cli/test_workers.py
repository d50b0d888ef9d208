from datetime import timedelta

from klokka.core.worker_records import WorkerBeat
from klokka.stores.sqlite.store import SqliteStore
from tests.support.shell import WORKER, Shell


def _beat(shell: Shell) -> None:
    beat = WorkerBeat(
        id=WORKER,
        host="web\x1b[1m-1",
        pid=4711,
        version="0.1",
        queues=("critical", "email"),
        kinds=("email.welcome",),
        slots=10,
        busy=3,
    )

    async def note(store: SqliteStore) -> None:
        await store.beat(beat, live_for=timedelta(minutes=1))

    shell.on_store(note)


def test_workers_are_listed_with_what_they_serve(shell: Shell) -> None:
    _beat(shell)

    result = shell.run("workers")

    assert result.stdout.splitlines() == [
        "WORKER    LIVE  HOST           PID  VERSION  BUSY  QUEUES           KINDS  STARTED  LAST BEAT",
        "a-worker  yes   web\\x1b[1m-1  4711  0.1      3/10  critical, email      1  now      now",
    ]


def test_workers_for_programs(shell: Shell) -> None:
    _beat(shell)

    [worker] = shell.json("workers")

    assert worker["id"] == "a-worker"
    assert worker["live"] is True
    assert worker["kinds"] == ["email.welcome"]
    assert worker["host"] == "web\x1b[1m-1"


def test_no_worker_is_said_on_stderr_alone(shell: Shell) -> None:
    result = shell.run("workers")

    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "No worker is known.\n")
