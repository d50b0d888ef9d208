"""Instants as the contract means them: aware, UTC, whole microseconds. No clock is read here."""

from datetime import UTC, datetime, timedelta
from typing import Final

from klokka.core.durations import spell
from klokka.core.names import shown
from klokka.errors import InvalidTime

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND: Final = timedelta(microseconds=1)
FIRST: Final = datetime.min.replace(tzinfo=UTC)
LAST: Final = datetime.max.replace(tzinfo=UTC)


def micros(instant: datetime) -> int:
    """Whole microseconds since the epoch; exact for every aware datetime. Naive ones are refused [time.aware]."""
    return (aware(instant) - EPOCH) // MICROSECOND


def instant(micros_since_epoch: int) -> datetime:
    """The UTC instant that `micros` came from, without drift [time.resolution]."""
    seconds, rest = divmod(micros_since_epoch, 1_000_000)  # three times as fast as to let timedelta do it
    return EPOCH + timedelta(0, seconds, rest)


def aware(value: datetime, what: str = "instant") -> datetime:
    """`value` itself, in UTC; a naive one is refused because its instant is unknown [time.aware].

    Raises:
        InvalidTime: `value` is no datetime, has no zone, or lies outside of the years 1 to 9999 in UTC.
    """
    if not isinstance(value, datetime):
        raise InvalidTime(f"{what} cannot be {shown(value)}. Give an aware datetime, such as datetime.now(UTC).")
    if value.tzinfo is None or value.utcoffset() is None:
        raise InvalidTime(f"{what} {value.isoformat()} has no time zone. Give an aware one, such as datetime.now(UTC).")
    try:
        return value.astimezone(UTC)
    except OverflowError as error:
        raise InvalidTime(f"{what} {value.isoformat()} is outside of the years 1 to 9999 in UTC.") from error


def duration(value: timedelta, what: str) -> timedelta:
    """`value` itself, if it is a length of time, which a bare number is not.

    Raises:
        InvalidTime: it is something else.
    """
    if not isinstance(value, timedelta):
        raise InvalidTime(f"{what} cannot be {shown(value)}. Give a timedelta, such as timedelta(seconds=30).")
    return value


def not_negative(value: timedelta, what: str) -> timedelta:
    """`value` itself, if it is nothing or longer.

    Raises:
        InvalidTime: it is negative, or no length of time.
    """
    if duration(value, what) < timedelta(0):
        raise InvalidTime(f"{what} must be zero or longer, not {spell(value)}.")
    return value


def positive(value: timedelta, what: str) -> timedelta:
    """`value` itself, if it is longer than nothing [life.arguments].

    Raises:
        InvalidTime: it is zero or negative, or no length of time.
    """
    if duration(value, what) <= timedelta(0):
        raise InvalidTime(f"{what} must be longer than nothing, not {spell(value)}.")
    return value


def after(start: datetime, wait: timedelta, what: str = "time") -> datetime:
    """`start + wait`, refused where the calendar ends instead of overflowing.

    Raises:
        InvalidTime: the sum lies beyond the year 9999.
    """
    try:
        return start + wait
    except OverflowError as error:
        raise InvalidTime(f"{what} {spell(wait)} from now is beyond the year 9999.") from error


def check_plan(what: str, when: datetime | timedelta) -> None:
    """Returns if `when` is a plan that a store takes: an aware instant, or a wait that is not negative.

    Raises:
        InvalidTime: it is naive or negative, or neither of the two.
    """
    if isinstance(when, timedelta):
        if when < timedelta(0):
            raise InvalidTime(
                f"{what} is {spell(when)} from now, in the past. Give a wait of zero or more, or an instant."
            )
    elif isinstance(when, datetime):
        aware(when, what)
    else:
        raise InvalidTime(f"{what} cannot be {shown(when)}. Give an aware datetime, or a timedelta from now.")
