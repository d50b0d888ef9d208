import pytest

from tests.support.shell import Shell

APP = "from klokka.app.klokka import Klokka\n"


@pytest.mark.parametrize("reference", ["shop", "shop:", ":app", "shop:app:x", "shop.py", "./shop:app", "shop:app()"])
def test_another_form_than_module_and_object_is_refused(shell: Shell, reference: str) -> None:
    result = shell.run("worker", reference)

    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == f"Error: {reference!r} names no app. Write it as module:object, such as jobs:app.\n"


def test_a_missing_module_is_said_with_where_it_was_looked_for(shell: Shell) -> None:
    result = shell.run("enqueue", "not_there.deep:app", "kind")

    assert result.exit_code == 2
    assert f"there is no module 'not_there', neither in {shell.folder} nor" in result.stderr
    assert "Traceback" not in result.stderr


def test_a_missing_attribute_is_said_with_the_apps_that_are_there(shell: Shell) -> None:
    shell.write("named.py", APP + 'first = Klokka("memory:")\nsecond = Klokka("memory:")\n')

    result = shell.run("enqueue", "named:app", "kind")

    assert (result.exit_code, result.stderr) == (
        2,
        "Error: module 'named' has no 'app'. Did you mean named:first or named:second?\n",
    )


def test_a_module_without_an_app_is_told_how_to_have_one(shell: Shell) -> None:
    shell.write("empty.py", "")

    result = shell.run("enqueue", "empty:app", "kind")

    assert "It holds no Klokka app: make one there, app = klokka.Klokka(…), and name it empty:app." in result.stderr


def test_an_object_that_is_no_app_is_refused_with_what_it_is(shell: Shell) -> None:
    shell.write("other.py", APP + 'app = "sqlite:///jobs.db"\nreal = Klokka("memory:")\n')

    result = shell.run("enqueue", "other:app", "kind")

    assert result.stderr == "Error: other:app is no Klokka app but a str. Did you mean other:real?\n"


def test_an_app_inside_of_an_object_is_found(shell: Shell) -> None:
    shell.write("nested.py", APP + 'class Site:\n    app = Klokka("sqlite:///jobs.db")\n')

    assert shell.run("enqueue", "nested:Site.app", "kind", "1").exit_code == 0


def test_a_module_that_fails_shows_its_own_traceback_alone(shell: Shell) -> None:
    shell.write("broken.py", "def read():\n    return {}['smtp']\nread()\n")

    result = shell.run("enqueue", "broken:app", "kind")

    assert result.exit_code == 2
    assert result.stderr.startswith("Traceback (most recent call last):\n  File ")
    assert 'broken.py", line 3, in <module>' in result.stderr
    assert "KeyError: 'smtp'\nError: importing 'broken' failed, see above.\n" in result.stderr
    assert "importlib" not in result.stderr
    assert "klokka/cli" not in result.stderr


def test_a_module_that_lacks_another_one_is_not_taken_for_missing(shell: Shell) -> None:
    shell.write("needy.py", "import not_there\n")

    result = shell.run("enqueue", "needy:app", "kind")

    assert 'needy.py", line 1, in <module>' in result.stderr
    assert "importing 'needy' failed" in result.stderr


def test_a_module_with_a_syntax_error_shows_the_line(shell: Shell) -> None:
    shell.write("typo.py", "app = Klokka(\n")

    result = shell.run("enqueue", "typo:app", "kind")

    assert result.exit_code == 2
    assert "SyntaxError" in result.stderr


def test_a_module_that_exits_is_said(shell: Shell) -> None:
    shell.write("leaver.py", "raise SystemExit(0)\n")

    result = shell.run("enqueue", "leaver:app", "kind")

    assert result.exit_code == 2
    assert "importing 'leaver' failed" in result.stderr
