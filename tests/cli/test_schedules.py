import re
from datetime import timedelta
from typing import Any

import pytest

from klokka.core.ids import ScheduleId, WorkerId
from klokka.core.instants import EPOCH
from klokka.core.schedule_records import ScheduleSpec
from klokka.core.worker_records import WorkerBeat
from tests.support.shell import Shell

APP = """
    from datetime import timedelta
    import klokka

    app = klokka.Klokka("sqlite:///jobs.db")

    @app.recurring("cleanup", klokka.cron("30 2 * * *", zone="America/New_York"))
    def cleanup() -> None: ...

    @app.recurring("sync", klokka.every(timedelta(minutes=1)), overlap=False)
    def sync() -> None: ...
"""


def register(shell: Shell, *ids: str, **changes: Any) -> None:
    """Rows as a worker writes them, the first fire long ago unless told otherwise."""
    given: dict[str, Any] = {"kind": "work", "fingerprint": "f", "description": "every minute", "fire_at": EPOCH}
    specs = [ScheduleSpec(id=ScheduleId(each), **{**given, **changes}) for each in ids]
    shell.on_store(lambda store: store.upsert_schedules(specs))


def beat(shell: Shell, *ids: str) -> None:
    """A live worker that has these schedules."""
    schedules = tuple(map(ScheduleId, ids))
    worker = WorkerBeat(id=WorkerId("w"), host="h", pid=1, version="1", queues=(), kinds=(), schedules=schedules)
    shell.on_store(lambda store: store.beat(worker, live_for=timedelta(hours=1)))


def test_schedules_are_listed_with_their_fires_and_who_fires_them(shell: Shell) -> None:
    register(shell, "cleanup", "gone", "resting")
    register(shell, "over", fire_at=None)
    beat(shell, "cleanup", "resting", "over")
    shell.run("schedules", "pause", "resting", "--reason", "migration")

    lines = shell.run("schedules", "list").stdout.splitlines()

    assert [line.split()[:3] for line in lines] == [
        ["SCHEDULE", "KIND", "STATE"],
        ["cleanup", "work", "active"],
        ["gone", "work", "orphaned"],
        ["over", "work", "ended"],
        ["resting", "work", "paused"],
    ]


def test_schedules_for_programs(shell: Shell) -> None:
    register(shell, "cleanup")

    [schedule] = shell.json("schedules", "list")

    assert schedule == {
        "id": "cleanup",
        "kind": "work",
        "fingerprint": "f",
        "description": "every minute",
        "next_fire_at": "1970-01-01T00:00:00.000000Z",
        "last_fired_at": None,
        "lease_until": None,
        "fence": "0",
        "paused": None,
        "orphaned": True,
    }
    assert shell.json("schedules", "show", "cleanup") == schedule


def test_one_schedule_is_shown_in_full(shell: Shell) -> None:
    register(shell, "cleanup")

    result = shell.run("schedules", "show", "cleanup")

    assert re.search(r"state +orphaned", result.stdout)
    assert re.search(r"next fire +1970-01-01T00:00:00.000000Z  \d+ d ago", result.stdout)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("show", "nothing"), "schedule 'nothing' is unknown to the store"),
        (("pause", "nothing", "--reason", "x"), "schedule 'nothing' is unknown to the store"),
        (("resume", "nothing"), "schedule 'nothing' is unknown to the store"),
        (("next", "nothing", "--app", "jobs:app"), "jobs:app has no schedule 'nothing'. It has: cleanup, sync."),
        (("trigger", "nothing", "--app", "jobs:app"), "jobs:app has no schedule 'nothing'. It has: cleanup, sync."),
    ],
)
def test_an_unknown_schedule_is_a_no(shell: Shell, arguments: tuple[str, ...], message: str) -> None:
    shell.write("jobs.py", APP)

    result = shell.run("schedules", *arguments)

    assert (result.exit_code, result.stdout) == (1, "")
    assert message in result.stderr


def test_the_next_fires_come_from_the_apps_own_definition(shell: Shell) -> None:
    shell.write("jobs.py", APP)

    fires = shell.json(
        *("schedules", "next", "cleanup", "--app", "jobs:app"), *("--after", "2024-03-09T12:00:00Z", "--count", "2")
    )
    table = shell.run("schedules", "next", "cleanup", "--app", "jobs:app")

    assert [fire["at"] for fire in fires] == ["2024-03-10T07:00:00Z", "2024-03-11T06:30:00Z"]
    assert "does not exist" in fires[0]["notes"][0]
    assert "every day at 02:30, America/New_York" in table.stdout


def test_a_triggered_schedule_runs_at_once_and_is_not_moved(shell: Shell) -> None:
    shell.write("jobs.py", APP)
    register(shell, "cleanup", fire_at=EPOCH + timedelta(days=40_000))

    result = shell.run("schedules", "trigger", "cleanup", "--app", "jobs:app")

    assert (result.exit_code, result.stdout) == (0, "Job 1 is enqueued.\n")
    assert shell.get("1").summary.schedule_id == "cleanup"
    assert shell.json("schedules", "show", "cleanup")["next_fire_at"] == "2079-07-08T00:00:00.000000Z"


def test_a_trigger_of_runs_that_may_not_overlap_names_the_live_one(shell: Shell) -> None:
    shell.write("jobs.py", APP)

    first = shell.json("schedules", "trigger", "sync", "--app", "jobs:app")
    second = shell.run("schedules", "trigger", "sync", "--app", "jobs:app")

    assert first == {"id": "1", "created": True}
    assert (second.exit_code, second.stdout) == (0, "Job 1 is live already, and runs of sync may not overlap.\n")


def test_what_was_missed_while_paused_is_skipped_by_default(shell: Shell) -> None:
    shell.write("jobs.py", APP)
    register(shell, "sync")
    shell.run("schedules", "pause", "sync", "--reason", "why not")

    result = shell.run("schedules", "resume", "sync", "--app", "jobs:app")

    assert (result.exit_code, result.stdout) == (
        0,
        "Schedule sync is resumed. Skipped ticks: at least 1,000.\n",
    )
    assert shell.json("schedules", "show", "sync")["next_fire_at"] > "2024"


def test_what_was_missed_is_left_to_the_misfire_policy_on_demand_and_needs_no_app(shell: Shell) -> None:
    register(shell, "sync")
    shell.run("schedules", "pause", "sync", "--reason", "why not")

    refused = shell.run("schedules", "resume", "sync")
    resumed = shell.run("schedules", "resume", "sync", "--catch-up")

    assert refused.exit_code == 2
    assert "Name the app" in refused.stderr
    assert (resumed.exit_code, resumed.stdout) == (0, "Schedule sync is resumed.\n")
    assert shell.json("schedules", "show", "sync")["next_fire_at"] == "1970-01-01T00:00:00.000000Z"


def test_resuming_what_is_not_paused_is_a_no(shell: Shell) -> None:
    register(shell, "sync")

    result = shell.run("schedules", "resume", "sync")

    assert (result.exit_code, result.stderr) == (1, "Error: schedule sync is not paused.\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("pause", "sync"), "Missing option '--reason'"),
        (("trigger", "sync"), "this needs an app"),
        (("next", "sync"), "this needs an app"),
        (("show", ""), "schedule id is empty"),
    ],
)
def test_bad_input_gets_one_clear_error(shell: Shell, arguments: tuple[str, ...], message: str) -> None:
    shell.write("jobs.py", APP)

    result = shell.run("schedules", *arguments)

    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
