"""The headers that Klokka reserves for itself: all begin with `klokka.`, and a malformed one means the default."""

from collections.abc import Mapping
from typing import Final

from klokka.core.arguments import of_class
from klokka.core.names import RESERVED_HEADER
from klokka.errors import InvalidInput

MAX_ATTEMPTS: Final = RESERVED_HEADER + "max-attempts"
"""A job's own limit of attempts, in decimal, tighter than its policy's."""


def max_attempts_of(headers: Mapping[str, str]) -> int | None:
    """The job's own limit of attempts, or None where it has none or a malformed one."""
    text = headers.get(MAX_ATTEMPTS, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 and int(text) > 0 else None


def check_own(headers: Mapping[str, str]) -> Mapping[str, str]:
    """`headers` given by a user, if they keep out of the reserved names.

    Raises:
        InvalidInput: names the reserved one, or what is no text.
    """
    of_class("headers", headers, Mapping, "Give a mapping of text to text.")
    for name, value in headers.items():
        of_class("the name of a header", name, str, "Give a text.")
        of_class(f"header {name!r}", value, str, "Give a text.")
        if name.startswith(RESERVED_HEADER):
            raise InvalidInput(
                f"header {name!r} is reserved. Choose a name that does not begin with {RESERVED_HEADER!r}."
            )
    return headers
