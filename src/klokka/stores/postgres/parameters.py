"""Values of callers as texts, which every driver sends alike and the statements cast."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from klokka.core.instants import FIRST, LAST, MICROSECOND, aware
from klokka.errors import InvalidTime


def numbers(values: Iterable[int]) -> str:
    """An array of numbers."""
    return "{" + ",".join(map(str, values)) + "}"


def texts(values: Iterable[str]) -> str:
    """An array of texts, each quoted."""
    return "{" + ",".join('"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"' for text in values) + "}"


def span(value: timedelta) -> str:
    """A length of time in hours and less: a day in it would be a day of the session's zone.

    A number of microseconds would be plainer, but PostgreSQL 14 reads none above half an hour's.

    Raises:
        InvalidTime: it ends beyond the calendar, whenever it begins.
    """
    if value > LAST - FIRST:
        raise InvalidTime(f"{value} from now is beyond the year 9999.")
    sign = "-" if value < timedelta() else ""
    seconds, microseconds = divmod(abs(value) // MICROSECOND, 1_000_000)
    return f"{sign}{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}.{microseconds:06}"


def instant(value: datetime) -> str:
    """An instant, whatever the zone of the session."""
    return aware(value).isoformat()
