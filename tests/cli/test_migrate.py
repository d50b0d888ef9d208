import sqlite3

from tests.support.shell import Shell


def test_migrate_makes_the_database_and_is_idempotent(shell: Shell) -> None:
    store = ("--store", "sqlite:///new.db")

    made = shell.run("migrate", *store)
    again = shell.run("migrate", *store)

    assert made.stdout.startswith("The schema was brought from version 0 to ")
    assert (again.exit_code, again.stdout.split(" ")[:4]) == (0, ["The", "schema", "is", "at"])
    assert shell.run("jobs", "list", *store).exit_code == 0


def test_check_says_no_and_changes_nothing_where_the_schema_is_behind(shell: Shell) -> None:
    result = shell.run("migrate", "--check", "--store", "sqlite:///new.db")

    assert (result.exit_code, result.stdout) == (1, "")
    assert "the schema is at version 0" in result.stderr
    assert "`klokka migrate`" in result.stderr
    assert not (shell.folder / "new.db").exists()


def test_check_for_programs_prints_its_document_also_when_the_answer_is_no(shell: Shell) -> None:
    latest = shell.json("migrate", "--check")["latest"]

    result = shell.run("migrate", "--check", "--json", "--store", "sqlite:///new.db")

    assert shell.json("migrate") == {"before": latest, "current": latest, "latest": latest}
    assert result.exit_code == 1
    assert '"current": 0' in result.stdout


def test_the_script_makes_a_database_that_is_up_to_date(shell: Shell) -> None:
    script = shell.run("migrate", "--sql").stdout
    with sqlite3.connect("by-hand.db") as connection:
        connection.executescript(script)
    connection.close()

    assert shell.run("migrate", "--check", "--store", "sqlite:///by-hand.db").exit_code == 0


def test_the_script_stands_alone(shell: Shell) -> None:
    result = shell.run("migrate", "--sql", "--json")

    assert (result.exit_code, result.stdout) == (2, "")
