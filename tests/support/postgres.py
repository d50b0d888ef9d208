"""Databases for tests: each fresh, on one server that all test processes share and that ends with the last of them."""

import atexit
import fcntl
import hashlib
import os
import tempfile
import uuid
from collections.abc import Generator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, urlencode

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from klokka.stores.postgres.migrator import script
from klokka.stores.postgres.schema import Schema
from klokka.testing.postgres_server import PostgresServer

GIVEN = os.environ.get("KLOKKA_TEST_POSTGRES")
"""Another server to use instead: the URL of a role there that may create databases."""


@contextmanager
def fresh_database(*, migrated: bool = True) -> Generator[str]:
    """Where to connect to a new database, which is dropped afterwards with whoever is still connected."""
    name = f"klokka_{uuid.uuid4().hex}"
    template = _template() if migrated else "template0"
    execute("create database {} template {} encoding 'UTF8'", name, template)
    try:
        yield database(name)
    finally:
        execute("drop database if exists {} with (force)", name)


@contextmanager
def emptied_database() -> Generator[str]:
    """Where to connect to a database with the schema and no row in it, which goes from test to test in this process.

    To empty one takes a twentieth of the work of making one. For tests that change nothing but rows and defaults.
    """
    name = _EMPTIED.pop() if _EMPTIED else _made_to_last()
    try:
        yield database(name)
    finally:
        execute("alter database {} reset all", name)
        end_connections(database(name))
        with connection(database(name)) as administrator:
            administrator.execute(_TRUNCATE)
        _EMPTIED.append(name)


_EMPTIED: Final[list[str]] = []
_TRUNCATE: Final = """
do $$ begin
    execute (
        select format('truncate %s restart identity', string_agg(format('klokka.%I', tablename), ', '))
        from pg_tables
        where schemaname = 'klokka' and tablename <> 'migrations'
    );
end $$
"""


def _made_to_last() -> str:
    """A new database, which is dropped at the end of this process."""
    lasting = fresh_database()
    where = lasting.__enter__()
    atexit.register(lasting.__exit__, None, None, None)
    return str(conninfo_to_dict(where)["dbname"])


def execute(statement: str, *names: str) -> None:
    """Runs a statement as the administrator, on no database of a test."""
    _administrator().execute(sql.SQL(statement).format(*map(sql.Identifier, names)))  # type: ignore[arg-type]


def database(name: str) -> str:
    """Where to connect to a database by name."""
    return make_conninfo(_server(), dbname=name)


def url_of(where: str, **options: str) -> str:
    """A connection string as the URL that people give, with further options of the store's."""
    given = conninfo_to_dict(where)
    user, name = (quote(given.pop(part), safe="") for part in ("user", "dbname"))
    return f"postgresql://{user}@/{name}?{urlencode(given | options)}"


@contextmanager
def connection(where: str) -> Generator[psycopg.Connection[Any]]:
    """A connection of a bystander, in autocommit mode."""
    with psycopg.connect(where, autocommit=True) as bystander:
        yield bystander


@contextmanager
def fresh_role(where: str) -> Generator[tuple[str, str]]:
    """A role without any rights: its name, and where it connects to the database."""
    role = f"klokka_role_{uuid.uuid4().hex[:12]}"
    execute("create role {} login password 'secret'", role)
    try:
        yield role, make_conninfo(where, user=role, password="secret")  # noqa: S106 - of a role that lives as long as a test
    finally:
        with connection(where) as administrator:
            administrator.execute(sql.SQL("drop owned by {}").format(sql.Identifier(role)))
        execute("drop role {}", role)


def end_connections(where: str) -> None:
    """Ends all connections to a database, as an administrator does."""
    with connection(where) as bystander:
        bystander.execute(
            "select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = current_database() "
            "and pid <> pg_backend_pid()"
        )


def spoil_defaults(where: str) -> None:
    """Gives a database defaults that no store would choose; they hold for connections made afterwards."""
    with connection(where) as bystander:
        (name,) = bystander.execute("select current_database()").fetchone() or ()
        for setting in (
            "default_transaction_isolation = 'serializable'",
            "default_transaction_read_only = on",
            "default_transaction_deferrable = on",
            "search_path = ''",
            "timezone = 'Asia/Kathmandu'",
            "datestyle = 'German'",
            "intervalstyle = 'sql_standard'",
            "synchronous_commit = off",
            "lock_timeout = '1ms'",
            "idle_in_transaction_session_timeout = '1ms'",
            "client_encoding = 'LATIN1'",
            "enable_indexscan = off",
            "extra_float_digits = 0",
        ):
            execute("alter database {} set " + setting, name)


@cache
def _administrator() -> psycopg.Connection[Any]:
    return psycopg.connect(_server(), autocommit=True)


@cache
def _server() -> str:
    if GIVEN is not None:
        return GIVEN
    with _one_process_at_a_time() as note:
        server = PostgresServer.join(Path(note.read_text())) if note.exists() else None
        if server is None:
            server = PostgresServer.start()
            note.write_text(str(server.folder))
        _HELD.append(server)
    return server.url()


_HELD: list[PostgresServer] = []
"""The use of the server by this process, which lasts as long as it does."""


@cache
def _template() -> str:
    """A database with the schema in it, made once for a server and a text of the migrations."""
    text = script(Schema("klokka"))
    name = f"klokka_template_{hashlib.sha256(text.encode()).hexdigest()[:12]}"
    administrator = _administrator()
    with _one_process_at_a_time():
        known = administrator.execute("select from pg_database where datname = %s", [name]).fetchone()
        if known is None:
            making = f"{name}_making"
            execute("drop database if exists {} with (force)", making)
            execute("create database {} template template0 encoding 'UTF8'", making)
            with psycopg.connect(database(making), autocommit=True) as fresh:
                fresh.execute(text.encode())
            execute("alter database {} rename to {}", making, name)
    return name


@contextmanager
def _one_process_at_a_time() -> Generator[Path]:
    note = Path(tempfile.gettempdir()) / f"klokka-tests-{os.geteuid()}"
    with note.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield note
