"""The examples for web frameworks do what they say: their own tests and commands pass, on a database of ours."""

import json
import os
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path
from urllib.parse import quote

import pytest
from psycopg.conninfo import conninfo_to_dict

from tests.support.postgres import fresh_database

EXAMPLES = Path(__file__).parents[2] / "examples"
BIN = Path(sys.executable).parent


def url_of(where: str) -> str:
    """A connection string of libpq's as a URL."""
    place = {name: quote(str(value), safe="") for name, value in conninfo_to_dict(where).items()}
    secret = f":{place['password']}" if "password" in place else ""
    port = f"&port={place['port']}" if "port" in place else ""
    return f"postgresql://{place['user']}{secret}@/{place['dbname']}?host={place['host']}{port}"


@pytest.fixture
def environment() -> Generator[dict[str, str]]:
    with fresh_database(migrated=False) as where:
        yield {
            **{name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "KLOKKA_"))},
            "DATABASE_URL": url_of(where),
            "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
            "PYTHONDONTWRITEBYTECODE": "1",
        }


def run(command: list[str], example: str, environment: dict[str, str]) -> str:
    done = subprocess.run(
        command, cwd=EXAMPLES / example, env=environment, capture_output=True, text=True, timeout=100, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_a_shop_on_fastapi_and_sqlalchemy(environment: dict[str, str]) -> None:
    said = run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:randomly"],
        "fastapi_sqlalchemy",
        environment,
    )

    assert "2 passed" in said


def test_a_shop_on_django(environment: dict[str, str]) -> None:
    said = run([sys.executable, "-W", "error", "manage.py", "test"], "django_app", environment)

    assert "Ran 2 tests" in said


def test_django_and_klokka_migrate_one_database(environment: dict[str, str]) -> None:
    run([sys.executable, "manage.py", "migrate", "-v0"], "django_app", environment)
    run(["klokka", "migrate"], "django_app", environment)

    assert json.loads(run(["klokka", "jobs", "list", "--json"], "django_app", environment)) == []
