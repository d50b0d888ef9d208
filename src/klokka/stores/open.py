"""The one place that turns a URL into a store. A driver is imported when a URL asks for it."""

from collections.abc import Callable, Mapping
from typing import Final
from urllib.parse import SplitResult, urlsplit

from klokka.core.names import shown as shown_value
from klokka.errors import MissingExtra, UnknownStore
from klokka.spi.store import JobStore
from klokka.stores._url import options, shown


def store_of(given: str | JobStore) -> JobStore:
    """The store that is given, or that its URL names; see `open_store`.

    Raises:
        UnknownStore: it is neither of the two, as where an environment variable is not set.
    """
    if isinstance(given, str):
        return open_store(given)
    if not hasattr(given, "new_handle"):
        raise UnknownStore(
            f"a store cannot be {shown_value(given)}. Give a URL, such as sqlite:///jobs.db, or a store."
        )
    return given


def open_store(url: str) -> JobStore:
    """The store that `url` names, made and not yet opened.

    `memory:`, `sqlite:///relative.db`, `sqlite:////absolute.db` or `postgresql://user@host/database`; options follow
    a `?`.

    Raises:
        UnknownStore: no store answers to the URL, or its store does not know the form or an option. The message
            shows no password.
        MissingExtra: its driver is not installed.
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        raise UnknownStore(f"no store for {shown(url)}: it is not a URL.") from None  # its text may hold a password
    make = _STORES.get(parts.scheme)
    if make is None and (plain := parts.scheme.partition("+")[0]) in _STORES:
        raise UnknownStore(f"{shown(url)} names a driver, and Klokka brings its own. Write {plain}: alone.")
    if make is None:
        known = ", ".join(f"{scheme}:" for scheme in _STORES)
        raise UnknownStore(f"no store for {shown(url)}. Known: {known}. To write your own see docs/write-a-store.md.")
    return make(url, parts)


def _memory(url: str, parts: SplitResult) -> JobStore:
    from klokka.stores.memory.store import MemoryStore

    options(url, parts, {})
    if parts.netloc or parts.path:
        raise UnknownStore(f"{shown(url)} names something, and a store in memory has no name. Give memory: alone.")
    return MemoryStore()


def _sqlite(url: str, parts: SplitResult) -> JobStore:
    from klokka.stores.sqlite.url import sqlite_store

    return sqlite_store(url, parts)


def _postgres(url: str, parts: SplitResult) -> JobStore:
    try:
        from klokka.stores.postgres.url import postgres_store
    except ImportError as error:
        if error.name is None or not error.name.startswith("psycopg"):
            raise
        raise MissingExtra(
            f"{shown(url)} needs psycopg, PostgreSQL's driver. Install it: pip install 'klokka[postgres]'"
        ) from error
    return postgres_store(url, parts)


_STORES: Final[Mapping[str, Callable[[str, SplitResult], JobStore]]] = {
    "memory": _memory,
    "sqlite": _sqlite,
    "postgresql": _postgres,
    "postgres": _postgres,
}
