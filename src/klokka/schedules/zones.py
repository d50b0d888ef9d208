"""Time zones, loaded in this one place, so that all nodes with the same lock file agree on every offset."""

from difflib import get_close_matches
from functools import cache, lru_cache
from importlib.resources import files
from typing import Final
from zoneinfo import ZoneInfo

from klokka.core.names import clip
from klokka.errors import InvalidSchedule
from klokka.schedules.arguments import of_class

_LONGEST: Final = 64
"""More than any zone's name has; what is longer gets no suggestion, so that refusing stays cheap."""


@cache
def zone_names() -> frozenset[str]:
    """Every name that `load_zone` takes: the index of the `tzdata` package, aliases included."""
    return frozenset(files("tzdata").joinpath("zones").read_text("ascii").split())


def load_zone(name: str) -> ZoneInfo:
    """The zone from the `tzdata` package, never from the system's database, which may be years older.

    Names outside of the package's index are refused before any file is touched.

    Raises:
        InvalidSchedule: no such zone; with the likeliest name meant.
    """
    of_class("zone", name, str, "Give a name such as 'Europe/Oslo' or 'UTC'.")
    return _loaded(name)


@lru_cache(maxsize=1024)
def _loaded(name: str) -> ZoneInfo:
    if name not in zone_names():
        raise InvalidSchedule(f"zone {clip(name)!r} is not a zone of the IANA database. {_hint(name)}")
    with files("tzdata").joinpath("zoneinfo", *name.split("/")).open("rb") as file:
        return ZoneInfo.from_file(file, key=name)


def _hint(name: str) -> str:
    if len(name) <= _LONGEST:
        wanted = name.strip().replace(" ", "_").casefold()
        whole = {known.casefold(): known for known in sorted(zone_names())}
        city = {folded.rpartition("/")[2]: known for folded, known in whole.items()}
        if meant := whole.get(wanted) or city.get(wanted):
            return f"Did you mean {meant!r}?"
        if close := get_close_matches(name, zone_names(), n=1, cutoff=0.7):
            return f"Did you mean {close[0]!r}?"
    return "Give a name such as 'Europe/Oslo' or 'UTC'; if the zone is new, upgrade the tzdata package."
