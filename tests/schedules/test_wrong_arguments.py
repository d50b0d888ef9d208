"""Arguments of the wrong class, as untyped code gives them: one type of error, which names the argument."""

from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import pytest

from klokka.errors import InvalidSchedule, InvalidTime
from klokka.schedules import (
    CatchUp,
    FireOnce,
    Holidays,
    Skip,
    cron,
    daily,
    every,
    last_business_day,
    last_weekday,
    load_zone,
    monthly,
    nth_business_day,
    weekly,
)

NINE = "09:00"
WRONG: dict[str, tuple[Callable[[Any], Any], Any, str]] = {
    "no expression": (cron, None, "expression cannot be None. Give a text"),
    "an expression in bytes": (cron, b"* * * * *", "expression cannot be b'"),
    "no zone": (lambda zone: cron("* * * * *", zone=zone), None, "zone cannot be None. Give a name"),
    "a zone that cannot be hashed": (load_zone, [], r"zone cannot be \[\]"),
    "an offset for a zone": (lambda zone: daily(at=NINE, zone=zone), UTC, "zone cannot be datetime.timezone.utc"),
    "an hour": (lambda at: daily(at=at), 9, "at cannot be 9. Give a text such as"),
    "a time": (lambda at: daily(at=at), time(9), "at cannot be datetime.time"),
    "hours": (lambda at: daily(at=at), [9, 17], "at cannot be 9"),
    "a time in bytes": (lambda at: daily(at=at), b"09:00", "at cannot be 48"),
    "more times than end": (lambda at: daily(at=at), iter(lambda: NINE, ""), "more than 1,440 times"),
    "days in a list": (lambda day: weekly(day, at=NINE), [1], r"weekly cannot be \[1\]. Give MON to SUN"),
    "a weekday as text": (lambda day: last_weekday(day, at=NINE), "FRI", "weekday cannot be 'FRI'"),
    "no day": (lambda day: monthly(day, at=NINE), None, "day cannot be None. Give a number, or a rule"),
    "holidays as a set": (lambda days: last_business_day(at=NINE, holidays=days), set(), "holidays cannot be set"),
    "holidays as a text": (lambda days: nth_business_day(1, at=NINE, holidays=days), "no", "holidays cannot be 'no'"),
    "no dates": (lambda dates: Holidays("h", dates), None, "holidays cannot be None. Give a set of dates"),
    "dates as text": (lambda day: Holidays("h", [day]), "2026-05-17", "holidays h cannot have '2026-05-17'"),
    "a time for a date": (lambda day: Holidays("h", [day]), datetime(2026, 5, 17, tzinfo=UTC), "cannot have datetime"),
    "a bare number of seconds": (every, 60, "period cannot be 60. Give a timedelta"),
    "an interval as text": (every, "1h", "period cannot be '1h'"),
    "an offset without unit": (lambda offset: every(timedelta(1), offset=offset), 5, "offset cannot be 5"),
    "a fraction of runs": (lambda most: CatchUp(at_most=most), 2.5, "at_most cannot be 2.5. Give a whole number"),
    "runs as text": (lambda most: CatchUp(at_most=most), "3", "at_most cannot be '3'"),
    "a threshold without unit": (lambda late: Skip(threshold=late), 60, "threshold cannot be 60. Give a timedelta"),
    "no threshold": (lambda late: FireOnce(threshold=late), None, "threshold cannot be None"),
    "a macro that is not ASCII": (cron, "@wee\u212aly", "is not a macro of this grammar"),
}


@pytest.mark.parametrize(("build", "wrong", "message"), WRONG.values(), ids=WRONG.keys())
def test_it_is_refused_by_its_name(build: Callable[[Any], Any], wrong: Any, message: str) -> None:
    with pytest.raises(InvalidSchedule, match=message):
        build(wrong)


@pytest.mark.parametrize("wrong", [None, "2026-03-02", date(2026, 3, 2), 1_772_000_000])
def test_what_is_no_instant_is_refused(wrong: Any) -> None:
    for schedule in (daily(at=NINE), every(timedelta(hours=1))):
        with pytest.raises(InvalidTime, match="Give an aware datetime"):
            schedule.next(wrong)
        with pytest.raises(InvalidTime, match="Give an aware datetime"):
            schedule.prev(wrong)
