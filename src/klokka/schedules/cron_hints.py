"""What a refused cron expression most likely meant, and how to write that here."""

import re
from typing import Final

from klokka.core.names import clip
from klokka.schedules.cron_fields import KINDS, WEEKDAY, FieldKind

_FOREIGN: Final = re.compile(r"[#?~%]|(?<![A-Z])(?:LW|[LWHR])(?![A-Z])")
_ZONE_LIKE: Final = re.compile(r"=|[A-Z]{3}/[A-Z]")
_ORDER: Final = "Fields are minute, hour, day of month, month, day of week."
_ORDER_SIX: Final = "Fields are second, minute, hour, day of month, month, day of week."
_ZONE_APART: Final = 'Give a zone apart: cron(…, zone="Europe/Oslo").'
_MEANT: Final = {
    "L": "For the end of a month use last_day(at=…) or last_weekday(FRI, at=…).",
    "LW": "For the last working day use last_business_day(at=…).",
    "W": "For working days of a month use nth_business_day(3, at=…).",
    "#": "For the second Friday of a month use nth_weekday(2, FRI, at=…).",
    "?": "Write * where any day will do.",
    "~": "Choose the value yourself; a schedule is the same on every node.",
    "H": "Choose the value yourself; a schedule is the same on every node.",
    "R": "Choose the value yourself; a schedule is the same on every node.",
    "%": "To skip weeks use every(timedelta(weeks=2)).",
}


def shape_hint(term: str, good: int, kind: FieldKind) -> tuple[str, str]:
    """What is wrong with a term whose first `good` characters could be right, and what to write."""
    if not term:
        return "a term is missing", "Write a value, or take the comma away."
    if _ZONE_LIKE.search(term):
        return f"{clip(term, 20)!r} does not belong here", _ZONE_APART
    if foreign := _FOREIGN.search(term):
        return f"{foreign.group()!r} is of another dialect", _MEANT[foreign.group()]
    for other in KINDS:
        if term[:3] in other.names and term[:3] not in kind.names:
            return f"{clip(term, 20)!r} is a {other.name}", _ORDER
    what = f"{clip(term[good:] or term, 20)!r} does not belong here"
    if term[:3] in kind.names and term[3:].isalpha():
        return what, f"Names have three letters: {term[:3]}."
    names = f" or {kind.names[0]} to {kind.names[-1]}" if kind.names else ""
    return what, f"Write *, */n, {kind.low} to {kind.high}{names}, a range such as 1-5 or 0-20/5, or a list of them."


def step_hint(term: str, step: int, first: int, span: int) -> tuple[str, str]:
    """What is wrong with a step outside of 1 to `span`, and what to write."""
    if step == 0:
        return f"{clip(term, 20)!r} has a step of 0", "Give a step of 1 or more."
    smaller = f", or a step of at most {span}" if span else ""
    return f"{clip(term, 20)!r} has a step that never comes round", f"Write {first} alone{smaller}."


def reversed_hint(first: int, last: int, kind: FieldKind) -> str:
    """How to write a range that passes the end of its field."""
    if kind is not WEEKDAY:
        return f"Write {first}-{kind.high},{kind.low}-{last}."
    head = f"{first}-7" if first < 7 else "7"
    tail = f"1-{last}" if last > 1 else "1"
    return f"Write {head},{tail}." if last else f"Write {first}-7: Sunday is 7 as well as 0."


def lone_step_hint(value: int, step: str, kind: FieldKind) -> str:
    """How to write what `value/step` means elsewhere."""
    if len(step) < 3 and 0 < int(step) <= kind.high - value:
        return f"Write {value}-{kind.high}/{step}."
    return f"Write {value} alone."


def words_hint(words: list[str], *, seconds: bool) -> str:
    """What a wrong number of fields most likely is."""
    if words and "=" in words[0]:
        return _ZONE_APART
    if len(words) == 6 and not seconds:
        return 'For a first field of seconds give seconds=True; for a zone give zone="Europe/Oslo".'
    if len(words) == 5 and seconds:
        return "Put the seconds in front, or leave seconds=True out."
    if len(words) > 6:
        return "There is no field for years."
    return _ORDER_SIX if seconds else _ORDER
