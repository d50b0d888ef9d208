"""Strategies, and how far to go with them: `KLOKKA_THOROUGH=1` takes minutes and tries all zones and many examples.

They give valid cron expressions of every shape, zones with every sort of clock change, and instants near them."""

import os
from datetime import UTC, datetime, timedelta
from functools import cache

from hypothesis import settings, strategies as st

from klokka.schedules import load_zone
from tests.schedules import oracle

THOROUGH = os.environ.get("KLOKKA_THOROUGH") == "1"
slow = settings(deadline=None, max_examples=1000 if THOROUGH else 20)
ZONES = (
    "UTC",
    "America/New_York",
    "Europe/London",
    "Europe/Dublin",
    "Australia/Lord_Howe",
    "Pacific/Apia",
    "Antarctica/Troll",
    "Africa/Casablanca",
    "America/Sao_Paulo",
    "Asia/Tehran",
    "America/Caracas",
    "Asia/Kathmandu",
    "America/Havana",
    "Asia/Gaza",
)
_RANGES = ((0, 59), (0, 59), (0, 23), (1, 31), (1, 12), (0, 7))


@st.composite
def terms(draw: st.DrawFn, low: int, high: int) -> str:
    span = min(high - low, 6) if (low, high) == (0, 7) else high - low
    shape = draw(st.sampled_from(["*", "*/n", "v", "v", "v-v", "v-v/n"]))
    if shape == "*":
        return "*"
    if shape == "*/n":
        return f"*/{draw(st.integers(1, span))}"
    first = draw(st.integers(low, high))
    if shape == "v":
        return str(first)
    last = draw(st.integers(first, high))
    if shape == "v-v" or last - first < 1:
        return f"{first}-{last}"
    return f"{first}-{last}/{draw(st.integers(1, min(last - first, span)))}"


@st.composite
def fields(draw: st.DrawFn, low: int, high: int) -> str:
    return ",".join(draw(st.lists(terms(low, high), min_size=1, max_size=3)))


@st.composite
def expressions(draw: st.DrawFn, *, seconds: bool = False) -> str:
    """Dense enough to fire near any instant: day and month fields are `*` three times of four."""
    words = [draw(fields(*bounds)) for bounds in (_RANGES if seconds else _RANGES[1:])]
    for at in (-3, -2, -1):
        if draw(st.integers(0, 3)):
            words[at] = "*"
    return " ".join(words)


@st.composite
def near_transitions(draw: st.DrawFn) -> tuple[str, datetime]:
    """A zone and an instant within two days of one of its transitions of this century, in any pass of any hour."""
    name = draw(st.sampled_from(ZONES))
    found = _transitions(name)
    base = draw(st.sampled_from(found)) if found else datetime(2024, 2, 28, tzinfo=UTC)
    minutes = draw(st.integers(-90, 90) | st.integers(-48 * 60, 48 * 60))
    micros = draw(st.sampled_from([0, 0, -1, 1, 30_000_000]))
    return name, base + timedelta(minutes=minutes, microseconds=micros)


@cache
def _transitions(name: str) -> list[datetime]:
    return oracle.transitions(load_zone(name), 2000, 2040)
