"""Lengths of time as people type them: `10s`, `5m`, `1h30m`, `2d`."""

import re
from datetime import timedelta
from typing import Final

from klokka.core.names import clip
from klokka.errors import InvalidTime

FORM: Final = "10s, 5m, 1h30m or 2d"

_PARTS: Final = re.compile(
    r"(?:(?P<days>[0-9]+)d)?(?:(?P<hours>[0-9]+)h)?(?:(?P<minutes>[0-9]+)m)?"
    r"(?:(?P<seconds>[0-9]+)s)?(?:(?P<milliseconds>[0-9]+)ms)?"
)


def parse_duration(text: str) -> timedelta:
    """The length of time that `text` names: whole numbers with units d, h, m, s, ms, the largest first.

    Raises:
        InvalidTime: it is of another form, or longer than any calendar.
    """
    found = _PARTS.fullmatch(text)
    parts = {} if found is None else {unit: int(number) for unit, number in found.groupdict().items() if number}
    if not parts:
        hint = f" Did you mean {text}s?" if text.isascii() and text.isdigit() else ""
        raise InvalidTime(f"{clip(text)!r} is no length of time. Write it like {FORM}.{hint}")
    try:
        return timedelta(**parts)
    except OverflowError as error:
        raise InvalidTime(f"{clip(text)!r} is longer than the calendar. Write it like {FORM}.") from error
