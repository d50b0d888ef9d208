"""Which library a connection is of, told by the names of its classes, so that no library is imported for the question."""

from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final

from klokka.errors import WrongTransaction


@dataclass(frozen=True, slots=True)
class Library:
    """A library of connections: the module that runs statements on them, and how people begin a transaction there."""

    module: str
    begin: str


_PSYCOPG: Final = Library("of_psycopg", "Enqueue within `with connection.transaction():`.")
_ASYNCPG: Final = Library("of_asyncpg", "Enqueue within `async with connection.transaction():`.")
_SQLALCHEMY: Final = Library("of_sqlalchemy", "Use an engine whose isolation level is not AUTOCOMMIT.")
_DJANGO: Final = Library("of_django", "Enqueue within `with transaction.atomic():`.")

_SYNC: Final = {
    ("psycopg", "Connection"): _PSYCOPG,
    ("sqlalchemy", "Connection"): _SQLALCHEMY,
    ("sqlalchemy", "Session"): _SQLALCHEMY,
    ("sqlalchemy", "scoped_session"): _SQLALCHEMY,
    ("django", "BaseDatabaseWrapper"): _DJANGO,
    ("django", "ConnectionProxy"): _DJANGO,
}
_ASYNC: Final = {
    ("psycopg", "AsyncConnection"): _PSYCOPG,
    ("asyncpg", "Connection"): _ASYNCPG,
    ("asyncpg", "PoolConnectionProxy"): _ASYNCPG,
    ("sqlalchemy", "AsyncConnection"): _SQLALCHEMY,
    ("sqlalchemy", "AsyncSession"): _SQLALCHEMY,
    ("sqlalchemy", "async_scoped_session"): _SQLALCHEMY,
}


def library_of(tx: object, *, asynchronous: bool) -> Library:
    """The library of a connection of the sort that is asked for.

    Raises:
        WrongTransaction: it is of the other sort, or of none.
    """
    names = [(kind.__module__.partition(".")[0], kind.__name__) for kind in type(tx).__mro__]
    ours, others = (_ASYNC, _SYNC) if asynchronous else (_SYNC, _ASYNC)
    for name in names:
        if name in ours:
            return ours[name]
    what = f"{names[0][0]}'s {names[0][1]}" if names[0][0] != "builtins" else names[0][1]
    if any(name in others for name in names):
        raise WrongTransaction(
            f"tx is {what}, which is synchronous. Use `app.enqueue_sync(…, tx=…)`, or an asynchronous connection."
            if asynchronous
            else f"tx is {what}, which is asynchronous. Use `await app.enqueue(…, tx=…)`, or a synchronous connection."
        )
    raise WrongTransaction(
        f"tx is {what}. The PostgreSQL store takes a connection of psycopg, asyncpg, SQLAlchemy or Django or a session "
        f"of SQLAlchemy's, and nothing that makes them."
    )


def carrier(library: Library) -> Any:
    """The module that runs statements on the library's connections."""
    return import_module(f"{__package__}.{library.module}")
