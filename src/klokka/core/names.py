"""The door: what a name and a text may be. Refused input never reaches a store half-written."""

import re
from functools import lru_cache
from typing import Final

from klokka.errors import InvalidInput, InvalidName, LimitExceeded

RESERVED_HEADER: Final = "klokka."
_NAME: Final = re.compile(r"[a-z0-9._-]{1,128}")


@lru_cache(maxsize=4096)
def check_name(what: str, name: str) -> str:
    """`name`, if it is 1 to 128 characters of `a-z 0-9 - . _`.

    Raises:
        InvalidName: says which character stands where, or the length; or it is no text.
    """
    allowed = "Use 1 to 128 characters of a-z 0-9 - . _"
    if not isinstance(name, str):
        raise InvalidName(f"{what} cannot be {shown(name)}. {allowed}, in quotes.")
    if _NAME.fullmatch(name):
        return name
    if not name:
        raise InvalidName(f"{what} is empty. {allowed}.")
    bad = re.search(r"[^a-z0-9._-]", name)
    if bad is None:
        raise InvalidName(f"{what} has {len(name)} characters. {allowed}.")
    hint = f", for example {name.lower()!r}" if _NAME.fullmatch(name.lower()) else ""
    raise InvalidName(f"{what} {clip(name)!r} has {bad.group()!r} at position {bad.start() + 1}. {allowed}{hint}.")


def check_kind(kind: str) -> str:
    """A kind is the durable name of a type of job; see `check_name`."""
    return check_name("kind", kind)


def check_queue(queue: str) -> str:
    """A queue's name; see `check_name`."""
    return check_name("queue", queue)


def check_text(what: str, text: str) -> str:
    """`text`, if every store can give it back character for character [enqueue.text].

    Raises:
        InvalidInput: it is no text, or has a raw NUL or a lone surrogate, and where.
    """
    if not isinstance(text, str):
        raise InvalidInput(f"{what} cannot be {shown(text)}. Give a text.")
    if "\0" in text:
        raise InvalidInput(f"{what} has a NUL character at position {text.index(chr(0)) + 1}. Remove or escape it.")
    if not text.isascii():
        utf8_length(what, text)
    return text


def utf8_length(what: str, text: str) -> int:
    """Bytes of `text` in UTF-8.

    Raises:
        InvalidInput: `text` has a lone surrogate, and where.
    """
    if text.isascii():
        return len(text)
    try:
        return len(text.encode())
    except UnicodeEncodeError as error:
        raise InvalidInput(
            f"{what} has a lone surrogate at position {error.start + 1}. Replace it before you enqueue."
        ) from error


def check_bytes(what: str, text: str, limit: int) -> str:
    """`text`, if it passes `check_text` and has at most `limit` bytes of UTF-8 [enqueue.limits].

    Raises:
        LimitExceeded: names the limit and the size.
        InvalidInput: see `check_text`.
    """
    check_text(what, text)
    if len(text) * 4 > limit and (size := utf8_length(what, text)) > limit:
        raise LimitExceeded(
            f"{what} has {size:,} bytes; the limit is {limit:,}. Store the rest elsewhere and pass a reference."
        )
    return text


def check_key(what: str, key: str, limit: int = 512) -> str:
    """`key`, if it has 1 to `limit` bytes of UTF-8; no key at all is None, never an empty text.

    Raises:
        InvalidName: it is empty.
        LimitExceeded, InvalidInput: see `check_bytes`.
    """
    if not key:
        raise InvalidName(f"{what} is empty. Leave it out, or give 1 to {limit} bytes.")
    return check_bytes(what, key, limit)


def clip(text: str, most: int = 60) -> str:
    """The start of a text, for a message that must stay readable."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def shown(value: object) -> str:
    """Any value, for a message that must stay readable."""
    try:
        return clip(repr(value))
    except Exception:  # a broken __repr__ must not hide the error that we report
        return f"<{type(value).__name__}>"
