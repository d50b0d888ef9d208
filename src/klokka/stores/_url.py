"""What the URLs of all stores share: how they are shown, and how their options are read."""

import re
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any, Final
from urllib.parse import SplitResult, parse_qsl

from klokka.core.names import clip
from klokka.errors import InvalidInput, UnknownStore

Reader = Callable[[str], Any]
"""Turns the text of an option into its value, or raises InvalidInput."""

_SPAN: Final = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)(ms|s|m)")
_UNITS: Final = {"ms": timedelta(milliseconds=1), "s": timedelta(seconds=1), "m": timedelta(minutes=1)}
_USER: Final = re.compile(r"//[^?]*@")
_SECRET: Final = re.compile(r"(?i)\b([a-z_]*(?:pass|pwd|secret|token|key)[a-z_]*)=[^&]*")


def shown(url: str) -> str:
    """`url` for a message, without what may be a secret in it."""
    without = _SECRET.sub(r"\1=***", _USER.sub("//***@", url))
    return f'"{clip(without, 120)}"'


def span(text: str) -> timedelta:
    """Reads the length of a wait, as in `bound=5s`.

    Raises:
        InvalidInput: it is none, or not above zero.
    """
    match = _SPAN.fullmatch(text)
    length = timedelta(0) if match is None else float(match[1]) * _UNITS[match[2]]
    if length <= timedelta(0):
        raise InvalidInput("is not a length of time such as 500ms, 5s or 1m.")
    return length


def options(
    url: str, parts: SplitResult, known: Mapping[str, Reader], *, others: list[tuple[str, str]] | None = None
) -> dict[str, Any]:
    """The values of the options behind `?`. `others` takes those that are not known, where somebody else reads them.

    Raises:
        UnknownStore: an option is not known, stands there twice or has a value that cannot be read; it is named.
    """
    found: dict[str, Any] = {}
    for name, text in parse_qsl(parts.query, keep_blank_values=True):
        if name not in known and others is not None:
            others.append((name, text))
            continue
        if name not in known:
            raise UnknownStore(f"{shown(url)} has an option {clip(name)!r}. Known: {', '.join(known) or 'none'}.")
        if name in found:
            raise UnknownStore(f"{shown(url)} has the option {name!r} twice. Give it once.")
        try:
            found[name] = known[name](text)
        except InvalidInput as error:
            raise UnknownStore(f"{shown(url)}: {name}={clip(text)!r} {error}") from error
    return found
