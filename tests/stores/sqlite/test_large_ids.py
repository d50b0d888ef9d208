"""Ids beyond 2**31 and 2**53 stay exact through every verb, and through JSON, whose numbers would round them."""

import json
import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner

import klokka
from klokka.cli.group import klokka as command
from klokka.core.ids import MAX_ID

LARGE = [2**31, 2**53 + 1, MAX_ID - 1]


@pytest.mark.parametrize("last", LARGE)
async def test_a_job_of_a_large_id_is_run_shown_and_requeued(path: Path, last: int) -> None:
    app = klokka.Klokka(f"sqlite:///{path}")
    ran: list[int] = []

    @app.job("a")
    async def run() -> None:
        ran.append(klokka.current_job().id)

    async with app:
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.execute("insert into sqlite_sequence (name, seq) values ('klokka_jobs', ?)", [last])
        job = (await run.enqueue()).id
        async with app.worker():
            details = await app.wait(job, timeout=timedelta(seconds=20))
            again = await app.requeue(job)
            await app.wait(job, timeout=timedelta(seconds=20))

    assert (job, details.summary.id, again, ran) == (last + 1, last + 1, True, [last + 1] * 2)


@pytest.mark.parametrize("last", LARGE)
def test_a_large_id_is_text_in_json(path: Path, last: int) -> None:
    app = klokka.Klokka(f"sqlite:///{path}")
    app.get_sync(klokka.JobId(1))
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("insert into sqlite_sequence (name, seq) values ('klokka_jobs', ?)", [last])
    app.enqueue_sync(klokka.NewJob(kind="a", payload="{}"))
    app.close_sync()

    listed = CliRunner().invoke(command, ["jobs", "list", "--json", "--store", f"sqlite:///{path}"])
    shown = CliRunner().invoke(command, ["jobs", "show", str(last + 1), "--json", "--store", f"sqlite:///{path}"])

    assert [job["id"] for job in json.loads(listed.stdout)] == [str(last + 1)]
    assert json.loads(shown.stdout)["id"] == str(last + 1)
