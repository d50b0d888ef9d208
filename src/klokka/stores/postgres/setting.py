"""What a handle was made with, and shares with its further handles."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from klokka.core.limits import Limits
from klokka.errors import InvalidInput, UnknownStore
from klokka.stores._url import shown
from klokka.stores.postgres.schema import Schema

WORK: Final = timedelta(seconds=30)
"""How long a statement may work, waits for locks not counted apart."""

_DEFAULTS: Final = {
    "application_name": "klokka",
    "connect_timeout": "5",
    "keepalives_idle": "10",
    "keepalives_interval": "5",
    "keepalives_count": "3",
    "tcp_user_timeout": "20000",
}
"""A peer that is gone without a word is noticed within half a minute, unless the user says otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """How to connect, and the bounds of all waits."""

    conninfo: str
    listen: str
    schema: Schema
    bound: timedelta
    connections: int
    listen_check: timedelta
    migrates: bool
    limits: Limits

    @property
    def where(self) -> str:
        """The database, for messages: never a password."""
        return described(self.conninfo)


def connectable(url: str, what: str = "url") -> str:
    """`url`, or a connection string of libpq's, with our own defaults where it says nothing.

    Raises:
        UnknownStore: libpq does not understand it.
    """
    try:
        given = conninfo_to_dict(url)
    except psycopg.ProgrammingError as error:
        raise UnknownStore(
            f"{shown(url)} is not a connection of PostgreSQL's ({what}): {str(error).strip()}."
        ) from None
    return make_conninfo("", **(_DEFAULTS | given | {"client_encoding": "UTF8"}))


def described(conninfo: str) -> str:
    """Server and database of a connection string."""
    given = conninfo_to_dict(conninfo)
    host = given.get("host") or given.get("hostaddr") or "the local server"
    port = f":{given['port']}" if given.get("port") else ""
    return f"PostgreSQL {given.get('dbname') or given.get('user') or 'database'!r} on {host}{port}"


def check_connections(count: int) -> int:
    """`count`, if a handle can do with as many connections.

    Raises:
        InvalidInput: it is less than one.
    """
    if count < 1:
        raise InvalidInput(f"connections must be 1 or more, not {count}.")
    return count
