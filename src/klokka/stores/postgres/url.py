"""The store that a URL with the scheme `postgresql` names."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any, Final
from urllib.parse import SplitResult, parse_qsl, quote, urlencode

from klokka.errors import UnknownStore
from klokka.stores._url import shown
from klokka.stores.postgres.store import PostgresStore

_OURS: Final[Mapping[str, Callable[[str], Any]]] = {
    "schema": str,
    "listen": str,
    "connections": int,
    "bound": lambda text: timedelta(seconds=float(text.removesuffix("s"))),
    "migrate": lambda text: {"on": True, "off": False}[text],
}


def postgres_store(url: str, parts: SplitResult) -> PostgresStore:
    """An unopened store on a URL of libpq's, with options of ours beside its own behind the `?`.

    `schema=klokka`, `connections=8`, `bound=5s`, `listen=` with another URL for the connection that listens, and
    `migrate=off`.

    Raises:
        UnknownStore: neither we nor libpq know an option, or a value cannot be read.
        InvalidInput: a value is out of range.
    """
    theirs: list[tuple[str, str]] = []
    ours: dict[str, Any] = {}
    query = parts.query.replace("+", "%2B")  # to libpq a plus is a plus, in passwords too
    for name, text in parse_qsl(query, keep_blank_values=True):
        if name not in _OURS:
            theirs.append((name, text))
            continue
        if name in ours:
            raise UnknownStore(f"{shown(url)} has the option {name!r} twice. Give it once.")
        try:
            ours[name] = _OURS[name](text)
        except (ValueError, KeyError) as error:
            raise UnknownStore(f"{shown(url)}: {name}={text!r} cannot be read.") from error
    # Not put together from its parts again: that would take the slashes from a URL that names no server.
    plain = url.partition("?")[0]
    return PostgresStore(f"{plain}?{urlencode(theirs, quote_via=quote)}" if theirs else plain, **ours)
