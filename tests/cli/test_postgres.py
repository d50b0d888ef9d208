"""A URL of PostgreSQL does all that one of SQLite does, in processes of their own."""

import json
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Generator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.support.postgres import connection, fresh_database, fresh_role, url_of

APP = """
import os, klokka
app = klokka.Klokka(os.environ["KLOKKA_STORE"])

@app.job("email.welcome")
async def welcome(user: int) -> None:
    print("welcome", user, flush=True)
"""


@pytest.fixture
def bare() -> Generator[str]:
    with fresh_database(migrated=False) as where:
        yield where


@pytest.fixture
def where() -> Generator[str]:
    with fresh_database() as where:
        yield where


def klokka(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "klokka", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, cwd=cwd)


def document(*arguments: str) -> Any:
    done = klokka(*arguments, "--json")
    assert done.returncode in (0, 1), done.stderr
    return json.loads(done.stdout)


def test_migrations_are_shown_printed_and_applied(bare: str) -> None:
    store = ("--store", url_of(bare))

    missing, script = klokka("migrate", "--check", *store), klokka("migrate", "--sql", *store).stdout
    with connection(bare) as administrator:
        administrator.execute(script.encode())
    made = klokka("migrate", "--check", *store)

    assert (missing.returncode, missing.stdout) == (1, "")
    assert "the schema is at version 0" in missing.stderr
    assert made.returncode == 0
    assert klokka("migrate", *store).stdout.startswith("The schema is at version ")


def test_the_script_is_for_the_schema_that_the_url_names(bare: str) -> None:
    script = klokka("migrate", "--sql", "--store", url_of(bare, schema='We"ird')).stdout

    assert 'create schema "We""ird";' in script
    assert '"klokka"' not in script


def test_a_job_goes_from_the_command_line_through_a_worker_to_the_list(bare: str, tmp_path: Path) -> None:
    (tmp_path / "jobs.py").write_text(APP.replace('os.environ["KLOKKA_STORE"]', repr(url_of(bare))))
    store = ("--store", url_of(bare))

    stored = klokka("enqueue", "jobs:app", "email.welcome", '{"user": 7}', "--json", cwd=tmp_path)
    command = [sys.executable, "-m", "klokka", "worker", "jobs:app", "--log-level", "error"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as worker:
        assert worker.stdout is not None
        said = worker.stdout.readline()
        working = document("workers", *store)
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(30) == 0
    [job] = document("jobs", "list", *store)

    assert said == "welcome 7\n"
    assert working[0]["kinds"] == ["email.welcome"]
    assert (job["id"], job["status"]) == (json.loads(stored.stdout)["id"], "succeeded")


def test_people_look_and_act(where: str) -> None:
    store = ("--store", url_of(where))
    with connection(where) as bystander:
        bystander.execute(
            "insert into klokka.jobs (enqueued_at, scheduled_for, run_at, due_at, payload_version, status, queue, "
            "kind, payload) select now(), now(), now(), now(), 1, 'enqueued', 'default', 'k', '{}' "
            "from generate_series(1, 3)"
        )

    cancelled = document("jobs", "cancel", "1", *store)
    klokka("queues", "pause", "default", "--reason", "now", *store)
    [queue] = document("queues", "list", *store)
    klokka("jobs", "delete", "--all", "--queue", "default", "--yes", *store)

    assert cancelled["changed"] == 1
    assert (queue["due"], queue["paused"]) == (2, "now")
    assert document("jobs", "list", *store) == []
    assert document("schedules", "list", *store) == []


@pytest.mark.parametrize(
    ("url", "code", "hint"),
    [
        ("postgresql:///jobs?host=/nonexistent&password=hunter2", 3, "cannot be reached"),
        ("postgresql://u:hunter2@localhost:1/jobs", 3, "cannot be reached"),
        ("postgresql://u:hunter2@localhost/jobs?colour=red", 2, "colour"),
        ("postgresql://u:hunter2@localhost/jobs?connections=many", 2, "connections"),
        ("postgresql://u:hunter2@localhost/jobs?connections=0", 2, "1 or more"),
        ("postgresql://u:hunter2@localhost/jobs?schema=pg_jobs", 2, "pg_jobs"),
    ],
)
def test_a_url_that_cannot_work_gets_one_line_and_no_password(url: str, code: int, hint: str) -> None:
    result = klokka("jobs", "list", "--store", url)

    assert result.returncode == code
    assert result.stderr.startswith("Error: ")
    assert result.stderr.count("\n") == 1
    assert hint in result.stderr
    assert "hunter2" not in result.stderr


def test_a_database_without_a_schema_is_left_as_it_is(bare: str) -> None:
    result = klokka("jobs", "list", "--store", url_of(bare))

    assert result.returncode == 3
    assert "`klokka migrate` makes one" in result.stderr
    with connection(bare) as bystander:
        assert bystander.execute("select from pg_namespace where nspname = 'klokka'").fetchone() is None


def test_a_role_without_rights_is_told_so(where: str) -> None:
    with fresh_role(where) as (role, as_role):
        given = psycopg.conninfo.conninfo_to_dict(as_role)
        given.pop("password")

        result = klokka("jobs", "list", "--store", url_of(psycopg.conninfo.make_conninfo("", **given)))

    assert result.returncode == 3
    assert "lacks a right" in result.stderr
    assert role not in result.stdout


def test_a_password_is_shown_by_no_command(where: str) -> None:
    url = url_of(where, password="hunter2")  # noqa: S106 - the server asks for none

    began = time.monotonic()
    told = klokka("doctor", "--store", url)

    assert "hunter2" not in told.stdout + told.stderr
    assert "password=***" in told.stdout
    assert time.monotonic() - began < 30


def test_the_kit_runs_in_schemas_of_its_own_and_leaves_none(where: str) -> None:
    report = document("tck", url_of(where), "--only", "tx.hands-off", "--only", "wakeups.recover")

    with connection(where) as bystander:
        left = bystander.execute("select nspname from pg_namespace where nspname like 'klokka%'").fetchall()
    assert left == [("klokka",)]
    assert report["conforms"] is True
    assert report["counts"]["passed"] > 2


def test_a_table_of_somebody_elses_is_told_once_and_with_one_advice(bare: str) -> None:
    with connection(bare) as other:
        other.execute("create schema klokka")
        other.execute("create table klokka.jobs (id int)")

    told = klokka("doctor", "--store", url_of(bare)).stdout

    assert "it is not Klokka's. Give another schema" in told
    for misleading in ("may not enqueue", "Install the version", "autovacuum settings"):
        assert misleading not in told


def test_the_doctor_says_who_locks_the_jobs_and_all_that_needs_no_lock(where: str) -> None:
    with psycopg.connect(where, application_name="vacuum-by-hand") as holder:
        holder.execute("lock table klokka.jobs in access exclusive mode")

        told = document("doctor", "--store", url_of(where))

    problems = [finding["problem"] for finding in told["findings"]]
    assert any("(vacuum-by-hand, idle in transaction) blocks Klokka" in problem for problem in problems)
    assert told["jobs"] is None
    assert told["live_workers"] == 0
    assert told["wakeup"] is not None
    assert told["facts"]["connections"]


def test_what_a_message_advises_is_not_advised_otherwise(bare: str) -> None:
    name = f"klokka_{uuid.uuid4().hex}"
    with connection(bare) as administrator:
        administrator.execute(f"create database {name} template template0 encoding 'LATIN1' locale 'C'")
        try:
            told = klokka("doctor", "--store", url_of(psycopg.conninfo.make_conninfo(bare, dbname=name))).stdout
        finally:
            administrator.execute(f"drop database {name} with (force)")

    assert "has the encoding LATIN1" in told
    assert "Do:" not in told
