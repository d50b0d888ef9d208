"""Lengths of time as people write them: `10s`, `5m`, `1h30m`, `2d`."""

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


def spell_duration(length: timedelta) -> str:
    """`length` in its two largest units, rounded toward zero, such as `1 h 30 m`; `0 s` below a millisecond."""
    rest = int(abs(length) / timedelta(milliseconds=1))
    spelled: list[str] = []
    for unit, size in (("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)):
        number, rest = divmod(rest, size)
        if number:
            spelled.append(f"{number} {unit}")
        elif spelled:
            break
    return " ".join(spelled[:2]) or "0 s"
