"""Statements made out of statements, as texts."""

import re
from typing import Final

_QUOTED: Final = r""""(?:[^"]|"")*"|'(?:[^']|'')*'"""
"""A name or a text, in which any characters may stand."""
_PARAMETER: Final = re.compile(rf"\$(\d+)|{_QUOTED}")
_MOMENT: Final = "with tick as materialized (\nselect clock_timestamp() as now\n)"


def placed(sql: str, place: str) -> str:
    """A statement of one parameter, with `place` where that goes."""
    return _PARAMETER.sub(lambda found: place if found[1] else found[0], sql)


def replaced(sql: str, old: str, new: str) -> str:
    """A statement with `new` wherever `old` stands, but for quoted names and texts."""
    return re.sub(f"{re.escape(old)}|{_QUOTED}", lambda found: new if found[0] == old else found[0], sql)


def gated(gate: str, sql: str) -> str:
    """One statement of two: the second does nothing unless the first gives a row. Both are done or neither.

    The second is one that takes all its rows from its `tick`, which here comes from the first: its clock is read when
    the first has the locks that it waited for. Its one parameter comes behind those of the first.
    """
    moment, _, rest = sql.partition(_MOMENT)
    if moment or not rest:
        raise AssertionError(f"a statement that can be gated begins with its tick, not {sql[:60]!r}")
    taken = max(int(found[1]) for found in _PARAMETER.finditer(gate) if found[1])
    tick = "tick as materialized (\nselect clock_timestamp() as now\nfrom gate\n)"
    return f"with gate as (\n{gate}\n),\n{tick}{placed(rest, f'${taken + 1}')}"
