"""When: plans and spans of callers as the store's microseconds."""

from datetime import datetime, timedelta

from klokka.core.instants import MICROSECOND, after, instant, micros, positive


def planned(when: datetime | timedelta | None, now: int, what: str) -> int:
    """The instant that a plan means; none means now.

    Raises:
        InvalidTime: beyond the calendar.
    """
    if when is None:
        return now
    if isinstance(when, timedelta):
        return micros(after(instant(now), when, what))
    return micros(when)


def reach(now: int, span: timedelta, what: str) -> int:
    """The end of a lease, an extension or a ttl that begins now [life.arguments].

    Raises:
        InvalidTime: it is not longer than nothing, or ends beyond the calendar.
    """
    return micros(after(instant(now), positive(span, what), what))


def ago(now: int, span: timedelta) -> int:
    """`now - span`, or the earliest that SQLite can hold."""
    return max(now - span // MICROSECOND, -(2**63))
