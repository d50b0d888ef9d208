import json
import sqlite3
from datetime import UTC, datetime, timedelta

import pytest

from klokka.cli.diagnosis import Diagnosis, diagnose
from klokka.core.clocks import ManualClock
from klokka.core.ids import ScheduleId
from klokka.core.schedule_records import ScheduleSpec
from klokka.core.worker_records import WorkerBeat
from klokka.stores.sqlite.store import SqliteStore
from tests.support.shell import WORKER, Shell, job


def _diagnose(shell: Shell) -> Diagnosis:
    return shell.on_store(lambda store: diagnose(store, "here"))


def _beat(shell: Shell, *kinds: str) -> None:
    beat = WorkerBeat(id=WORKER, host="h", pid=1, version="0", queues=("default",), kinds=kinds)

    async def note(store: SqliteStore) -> None:
        await store.beat(beat, live_for=timedelta(minutes=1))

    shell.on_store(note)


def test_a_sound_store_is_described_and_nothing_is_wrong(shell: Shell) -> None:
    result = shell.run("doctor")

    assert result.exit_code == 0
    for line in ("store  ", "from             sqlite:///jobs.db", "schema  ", "clock  ", "wakeup  ", "limits in bytes"):
        assert f"\n{line}" in f"\n{result.stdout}"
    assert "\ntransactions       no\n" in result.stdout
    assert result.stdout.endswith("Nothing is wrong.\n")


def test_the_document_has_everything_that_was_measured(shell: Shell) -> None:
    document = shell.json("doctor")

    assert document["healthy"] is True
    assert document["capabilities"]["wakeups"] is True
    assert abs(document["clock_ahead"]) < 1
    assert 0 < document["wakeup"] < 5
    assert document["store"]["limits"]["payload"] == 1024 * 1024
    assert document["jobs"]["enqueued"] == 0
    assert document["findings"] == []


def test_measuring_leaves_no_trace(shell: Shell) -> None:
    shell.run("doctor")

    assert shell.json("queues", "list") == []
    assert shell.json("jobs", "list") == []


def test_due_jobs_without_a_worker_are_found(shell: Shell) -> None:
    shell.enqueue(job(), job())

    result = shell.run("doctor")

    assert result.exit_code == 1
    assert "Wrong: queue default has 2 due jobs and no live worker.\n" in result.stdout
    assert "  Do: Start one that serves it: klokka worker module:app --queue default\n" in result.stdout


def test_a_paused_queue_is_shown_and_not_wrong(shell: Shell) -> None:
    shell.enqueue(job())
    shell.run("queues", "pause", "default", "--reason", "\x1b[5mmigration")

    result = shell.run("doctor")

    assert result.exit_code == 0
    assert "paused queues    default (\\x1b[5mmigration)\n" in result.stdout


def test_a_kind_that_no_worker_of_its_queue_knows_is_found(shell: Shell) -> None:
    shell.enqueue(job("email.welcome"), job("renamed"))
    _beat(shell, "email.welcome")

    [finding] = _diagnose(shell).findings

    assert finding.problem == "kind renamed waits in queue default, and no live worker there has a handler of it."
    assert "klokka jobs cancel --all --queue default --kind renamed" in finding.advice


def test_an_overdue_schedule_that_no_worker_has_is_found(shell: Shell) -> None:
    spec = ScheduleSpec(
        id=ScheduleId("nightly"), kind="k", fingerprint="f", description="", fire_at=datetime(2020, 1, 1, tzinfo=UTC)
    )
    shell.on_store(lambda store: store.upsert_schedules([spec]))

    [finding] = _diagnose(shell).findings

    assert finding.problem == "schedule nightly is overdue and no live worker has it."


@pytest.mark.parametrize(("ahead", "where"), [(60, "1 m ahead of"), (-60, "1 m behind")])
async def test_clocks_that_disagree_are_found(shell: Shell, ahead: int, where: str) -> None:
    store = SqliteStore(
        shell.folder / "jobs.db",
        clock=ManualClock(datetime.now(UTC) + timedelta(seconds=ahead, milliseconds=ahead * 5)),
    )

    found = await diagnose(store, "here")
    await store.close()

    assert where in found.findings[0].problem


@pytest.mark.parametrize(
    ("name", "problem"),
    [("missing.db", "there is no Klokka database"), ("notes.db", "notes.db"), ("not/there/jobs.db", "not/there")],
)
def test_a_store_that_cannot_be_used_is_a_finding_and_no_error(shell: Shell, name: str, problem: str) -> None:
    shell.write("notes.db", "not a database " * 100)

    result = shell.run("doctor", "--json", "--store", f"sqlite:///{name}")

    document = json.loads(result.stdout)
    assert result.exit_code == 1
    assert document["healthy"] is False
    assert problem in document["findings"][0]["problem"]
    assert "Install the version" not in document["findings"][0]["advice"]
    assert document["wakeup"] is None
    assert not (shell.folder / "missing.db").exists()


def test_a_schema_that_is_newer_is_a_finding_and_no_error(shell: Shell) -> None:
    with sqlite3.connect("jobs.db") as connection:
        connection.execute("insert into klokka_migrations values (999, 'later', 'x', 0)")
    connection.close()

    result = shell.run("doctor")

    assert result.exit_code == 1
    assert "Upgrade Klokka on this machine" in result.stdout
    assert "Do:" not in result.stdout
