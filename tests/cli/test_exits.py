import os
import sqlite3

import pytest

from klokka.cli import exits
from tests.support.shell import Shell


def test_a_database_of_a_newer_version_is_refused(shell: Shell) -> None:
    with sqlite3.connect("jobs.db") as connection:
        connection.execute("insert into klokka_migrations values (999, 'later', 'x', 0)")
    connection.close()

    result = shell.run("jobs", "list")

    assert (result.exit_code, result.stdout) == (3, "")
    assert result.stderr.startswith("Error: ")
    assert "999" in result.stderr


def test_a_file_that_is_no_database_is_refused(shell: Shell) -> None:
    shell.write("notes.db", "not a database " * 100)

    result = shell.run("jobs", "list", "--store", "sqlite:///notes.db")

    assert (result.exit_code, result.stdout) == (3, "")
    assert "notes.db" in result.stderr


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_cannot_be_read_is_refused(shell: Shell) -> None:
    (shell.folder / "jobs.db").chmod(0)

    result = shell.run("jobs", "list")

    assert (result.exit_code, result.stdout) == (3, "")
    assert "jobs.db" in result.stderr


def test_a_folder_is_no_database(shell: Shell) -> None:
    (shell.folder / "folder").mkdir()

    result = shell.run("jobs", "list", "--store", "sqlite:///folder")

    assert (result.exit_code, result.stdout) == (3, "")
    assert "is a directory" in result.stderr


@pytest.mark.parametrize("command", [("jobs", "list"), ("migrate",), ("migrate", "--check")])
def test_a_missing_folder_is_refused(shell: Shell, command: tuple[str, ...]) -> None:
    result = shell.run(*command, "--store", "sqlite:///not/there/jobs.db")

    assert (result.exit_code, result.stdout) == (3, "")
    assert "not/there" in result.stderr
    assert "Traceback" not in result.stderr


def test_a_store_that_lacks_what_a_command_needs_is_told(shell: Shell) -> None:
    result = shell.run("migrate", "--store", "memory:")

    assert (result.exit_code, result.stdout) == (2, "")
    assert "'memory' lacks" in result.stderr


def test_a_bug_is_raised_as_it_is(shell: Shell) -> None:
    shell.write(
        "buggy.py",
        """
        from klokka.app.klokka import Klokka
        from klokka.stores.sqlite.store import SqliteStore

        class Buggy(SqliteStore):
            async def list_jobs(self, query):
                raise RuntimeError("a bug")

        app = Klokka(Buggy("jobs.db"))
        """,
    )

    with pytest.raises(RuntimeError, match="a bug"):
        shell.run("jobs", "list", "--app", "buggy:app")


def test_help_names_the_commands_and_every_exit_code(shell: Shell) -> None:
    text = shell.run("--help").stdout

    for command in ("worker", "enqueue", "jobs", "queues", "workers", "migrate", "doctor", "completion"):
        assert f"  {command}" in text
    for code in exits.MEANINGS:
        assert f"\n  {code} " in text


def test_an_unknown_command_is_bad_usage(shell: Shell) -> None:
    result = shell.run("jbos")

    assert result.exit_code == 2
    assert "No such command 'jbos'" in result.stderr
