"""Lengths of time as people read them: in logs, errors and on the command line."""

from datetime import timedelta
from typing import Final

_MINUTE: Final = timedelta(minutes=1)
_UNITS: Final = (
    ("d", timedelta(days=1)),
    ("h", timedelta(hours=1)),
    ("m", _MINUTE),
    ("s", timedelta(seconds=1)),
)


def spell(length: timedelta) -> str:
    """`length` cut toward zero: `0.3 ms` or `11.7 s` below a minute, its two largest units from there, `1 h 30 m`."""
    if length < timedelta(0):
        return f"-{spell(-length)}"
    if length < _MINUTE:
        unit, size = ("ms", timedelta(milliseconds=1)) if length < timedelta(seconds=1) else ("s", timedelta(seconds=1))
        whole, tenths = divmod(10 * length // size, 10)
        if whole == tenths == 0:
            return "0 s"
        return f"{whole}.{tenths} {unit}" if tenths else f"{whole} {unit}"
    spelled: list[str] = []
    for unit, size in _UNITS:
        number, length = divmod(length, size)
        if number:
            spelled.append(f"{number} {unit}")
        elif spelled:
            break
    return " ".join(spelled[:2])
