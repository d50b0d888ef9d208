"""The store that a URL with the scheme `postgresql` names."""

from collections.abc import Mapping
from typing import Final
from urllib.parse import SplitResult, quote, urlencode

from klokka.errors import InvalidInput, UnknownStore
from klokka.stores._url import Reader, options, span
from klokka.stores.postgres.store import PostgresStore

_SWITCH: Final = {"on": True, "off": False}


def postgres_store(url: str, parts: SplitResult) -> PostgresStore:
    """An unopened store on a URL of libpq's, with options of ours beside its own behind the `?`.

    `schema=klokka`, `connections=8`, `bound=5s`, `listen=` with another URL for the connection that listens, and
    `migrate=off`.

    Raises:
        UnknownStore: neither we nor libpq know an option, or a value cannot be read.
        InvalidInput: a value is out of range.
    """
    theirs: list[tuple[str, str]] = []
    readable = parts._replace(query=parts.query.replace("+", "%2B"))  # to libpq a plus is a plus, in passwords too
    ours = options(url, readable, _READERS, others=theirs)
    # Not put together from its parts again: that would take the slashes from a URL that names no server.
    plain = url.partition("?")[0]
    try:
        return PostgresStore(f"{plain}?{urlencode(theirs, quote_via=quote)}" if theirs else plain, **ours)
    except UnknownStore as error:
        raise UnknownStore(f"{error} Klokka's own options are {', '.join(_READERS)}; the others are libpq's.") from None


def _count(text: str) -> int:
    if not text.isdecimal() or not text.isascii():
        raise InvalidInput("is not a number such as 8.")
    return int(text)


def _switch(text: str) -> bool:
    if text not in _SWITCH:
        raise InvalidInput("is neither on nor off.")
    return _SWITCH[text]


_READERS: Final[Mapping[str, Reader]] = {
    "schema": str,
    "listen": str,
    "connections": _count,
    "bound": span,
    "migrate": _switch,
}
