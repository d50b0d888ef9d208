"""The store that a URL with the scheme `sqlite` names."""

from typing import Final
from urllib.parse import SplitResult, unquote

from klokka.errors import InvalidInput, UnknownStore
from klokka.stores._url import options, shown, span
from klokka.stores.sqlite.durability import Durability
from klokka.stores.sqlite.store import SqliteStore

_PARAMETERS: Final = {"durability": "durability", "busy": "busy_bound"}


def sqlite_store(url: str, parts: SplitResult) -> SqliteStore:
    """An unopened store on `sqlite:///relative.db` or `sqlite:////absolute.db`.

    Options: `durability=machine` (the default) or `process`, and `busy=5s`, the bound of waits.

    Raises:
        UnknownStore: the URL has another form, or an option that is not known.
    """
    found = options(url, parts, {"durability": _durability, "busy": span})
    return SqliteStore(_path(url, parts), **{_PARAMETERS[name]: value for name, value in found.items()})


def _path(url: str, parts: SplitResult) -> str:
    if parts.fragment or "#" in url:
        raise UnknownStore(f"{shown(url)} has a #, which ends a path. Write it as %23.")
    path = unquote(parts.path)
    named = (unquote(parts.netloc) + path).strip("/")
    if ":memory:" in named:
        raise UnknownStore(f"{shown(url)} would be lost to every other connection. For a store in memory give memory:.")
    if not named or path.endswith("/"):
        raise UnknownStore(f"{shown(url)} names no file. Give one, such as sqlite:///jobs.db.")
    if parts.netloc or not path.startswith("/"):
        raise UnknownStore(
            f"{shown(url)} has the wrong number of slashes. "
            f"Three are for a relative path, sqlite:///{named}; four for an absolute one, sqlite:////{named}."
        )
    return path[1:]


def _durability(text: str) -> Durability:
    try:
        return Durability(text)
    except ValueError as error:
        raise InvalidInput(f"is none of {', '.join(known.value for known in Durability)}.") from error
