import pytest

from tests.support.shell import Shell, job

NOWHERE = {"KLOKKA_STORE": None, "KLOKKA_APP": None}


@pytest.fixture
def places(shell: Shell) -> Shell:
    """A store with one job; every other place names a store that is not there."""
    shell.enqueue(job())
    shell.write("shop.py", 'from klokka.app.klokka import Klokka\napp = Klokka("sqlite:///jobs.db")\n')
    return shell


def test_a_command_without_a_store_is_told_every_way_to_name_one(places: Shell) -> None:
    result = places.run("jobs", "list", **NOWHERE)

    assert (result.exit_code, result.stdout) == (2, "")
    for way in ("--store URL", "--app module:object", "KLOKKA_STORE", "KLOKKA_APP", "[tool.klokka]", "pyproject.toml"):
        assert way in result.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("jobs", "list", "--store", "sqlite:///jobs.db"),
        ("--store", "sqlite:///jobs.db", "jobs", "list"),
        ("--store", "sqlite:///nowhere.db", "jobs", "list", "--store", "sqlite:///jobs.db"),
        ("jobs", "list", "--app", "shop:app"),
        ("--store", "sqlite:///nowhere.db", "jobs", "list", "--app", "shop:app"),
    ],
)
def test_the_nearest_name_is_taken(places: Shell, arguments: tuple[str, ...]) -> None:
    result = places.run(*arguments, KLOKKA_STORE="sqlite:///nowhere.db")

    assert "email.welcome" in result.stdout


def test_the_environment_may_name_an_app(places: Shell) -> None:
    assert "email.welcome" in places.run("jobs", "list", KLOKKA_STORE="", KLOKKA_APP="shop:app").stdout


@pytest.mark.parametrize("line", ['store = "sqlite:///jobs.db"', 'app = "shop:app"'])
def test_pyproject_may_name_it(places: Shell, line: str) -> None:
    places.write("pyproject.toml", f"[tool.klokka]\n{line}\n")

    assert "email.welcome" in places.run("jobs", "list", **NOWHERE).stdout


def test_the_environment_stands_before_pyproject(places: Shell) -> None:
    places.write("pyproject.toml", '[tool.klokka]\nstore = "sqlite:///nowhere.db"\n')

    assert "email.welcome" in places.run("jobs", "list").stdout


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[tool.klokka]\nstore = 7\n", "[tool.klokka] store is 7, and must be a text in quotes."),
        ("[tool.klokka\n", "pyproject.toml cannot be read"),
        ('[tool]\nklokka = "x"\n', "is no table"),
        ("[project]\nname = 'x'\n", "no store is named"),
    ],
)
def test_a_pyproject_that_names_nothing_is_refused_with_what_is_wrong(places: Shell, text: str, message: str) -> None:
    places.write("pyproject.toml", text)

    result = places.run("jobs", "list", **NOWHERE)

    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr


def test_a_store_and_an_app_at_once_are_refused(places: Shell) -> None:
    result = places.run("jobs", "list", "--store", "sqlite:///jobs.db", "--app", "shop:app")

    assert result.exit_code == 2
    assert "--store and --app say the same thing twice" in result.stderr


def test_an_unknown_store_is_refused_with_what_is_known(places: Shell) -> None:
    result = places.run("jobs", "list", "--store", "redis://localhost")

    assert (result.exit_code, result.stdout) == (2, "")
    assert "redis" in result.stderr


def test_a_mistyped_file_is_not_made(places: Shell) -> None:
    result = places.run("jobs", "list", "--store", "sqlite:///jbos.db")

    assert (result.exit_code, result.stdout) == (3, "")
    assert result.stderr == (
        "Error: there is no Klokka database at sqlite:///jbos.db. Check the name; `klokka migrate` makes one.\n"
    )
    assert not (places.folder / "jbos.db").exists()


def test_the_missing_file_of_an_app_is_named(places: Shell) -> None:
    places.write("fresh.py", "import klokka\n\napp = klokka.Klokka('sqlite:///fresh.db')\n")

    result = places.run("jobs", "list", "--app", "fresh:app")

    assert (result.exit_code, result.stdout) == (3, "")
    place = places.folder / "fresh.db"
    assert f"there is no Klokka database at {place}, the store of fresh:app. Check the name" in result.stderr
