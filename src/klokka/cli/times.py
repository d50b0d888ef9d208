"""Instants for people, relative to the store's now, and for programs, absolute."""

from datetime import UTC, datetime, timedelta

from klokka.core.instants import aware
from klokka.core.names import clip
from klokka.errors import InvalidTime


def stamp(instant: datetime) -> str:
    """`instant` in UTC with all six digits of its second, so that stamps sort as text: 2024-03-10T07:00:00.000000Z."""
    return aware(instant).astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def seconds_stamp(instant: datetime) -> str:
    """`instant` in UTC with the fraction that it has, which is none for whole seconds: 2024-03-10T07:00:00Z."""
    return aware(instant).replace(tzinfo=None).isoformat() + "Z"


def relative(instant: datetime | None, now: datetime) -> str:
    """How far `instant` is from `now`, in its largest unit, such as `3 m ago` or `in 2 h`; a dash for none."""
    if instant is None:
        return "-"
    distance = abs(instant - now)
    if distance < timedelta(seconds=1):
        return "now"
    number, unit = _largest(distance)
    return f"{number} {unit} ago" if instant < now else f"in {number} {unit}"


def parse_instant(text: str) -> datetime:
    """The instant that `text` names in ISO 8601, in UTC.

    Raises:
        InvalidTime: it is of another form, has no zone, or lies outside of the calendar.
    """
    try:
        instant = datetime.fromisoformat(text)
    except ValueError as error:
        raise InvalidTime(
            f"{clip(text)!r} is no instant. Write it like 2024-03-10T07:00:00Z or 2024-03-10T09:00:00+02:00."
        ) from error
    if instant.tzinfo is None:
        raise InvalidTime(f"{clip(text)!r} has no time zone. Add Z for UTC, or an offset such as +02:00.")
    return aware(instant)


def _largest(distance: timedelta) -> tuple[int, str]:
    seconds = int(distance.total_seconds())
    if seconds < 60:
        return seconds, "s"
    if seconds < 3600:
        return seconds // 60, "m"
    if seconds < 48 * 3600:
        return seconds // 3600, "h"
    return seconds // 86400, "d"
