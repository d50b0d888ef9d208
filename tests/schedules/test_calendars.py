from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from itertools import islice

import pytest
from hypothesis import example, given, strategies as st

from klokka.errors import InvalidInput, InvalidSchedule
from klokka.schedules import (
    FRI,
    LAST_BUSINESS_DAY,
    LAST_DAY,
    MON,
    SUN,
    TUE,
    WED,
    Calendar,
    DayOfMonth,
    Holidays,
    LastWeekday,
    NthBusinessDay,
    NthWeekday,
    Weekday,
    daily,
    last_business_day,
    last_day,
    last_weekday,
    monthly,
    nth_business_day,
    nth_weekday,
    weekly,
    yearly,
)

START = datetime(2026, 1, 1, tzinfo=UTC)


def dates(schedule: Calendar, count: int) -> list[str]:
    return [f"{tick:%m-%d %H:%M}" for tick in islice(schedule.ticks(START), count)]


def test_several_times_of_a_day_fire_in_order_and_once_each() -> None:
    assert dates(daily(at=("17:30", "09:00", "09:00")), 3) == ["01-01 09:00", "01-01 17:30", "01-02 09:00"]
    assert dates(weekly(WED, MON, MON, at=["08:00"]), 3) == ["01-05 08:00", "01-07 08:00", "01-12 08:00"]


def test_a_rule_and_its_builder_are_one_schedule() -> None:
    assert monthly(LAST_BUSINESS_DAY, at="18:00") == last_business_day(at="18:00")
    assert monthly(LAST_DAY, at="18:00") == last_day(at="18:00") == monthly(31, clamp=True, at="18:00")
    assert monthly(NthWeekday(2, TUE), at="18:00") == nth_weekday(2, TUE, at="18:00")
    assert monthly(LastWeekday(FRI), at="18:00") == last_weekday(FRI, at="18:00")
    assert monthly(NthBusinessDay(3), at="18:00") == nth_business_day(3, at="18:00")
    assert monthly(day=15, at="18:00") == monthly(DayOfMonth(day=15), at="18:00")


def test_a_month_without_the_day_is_skipped_or_clamped() -> None:
    assert dates(monthly(31, at="12:00"), 3) == ["01-31 12:00", "03-31 12:00", "05-31 12:00"]
    assert dates(monthly(30, at="12:00", clamp=True), 3) == ["01-30 12:00", "02-28 12:00", "03-30 12:00"]
    assert yearly(month=2, day=29, at="12:00").next(START) == datetime(2028, 2, 29, 12, tzinfo=UTC)
    assert dates(yearly(month=2, day=29, at="12:00", clamp=True), 1) == ["02-28 12:00"]


def test_holidays_are_no_business_days() -> None:
    holidays = Holidays("winter-2026", {date(2026, 1, 1), date(2026, 1, 30)})

    assert dates(nth_business_day(1, at="07:00", holidays=holidays), 2) == ["01-02 07:00", "02-02 07:00"]
    assert dates(last_business_day(at="07:00", holidays=holidays), 2) == ["01-29 07:00", "02-27 07:00"]


def test_the_id_of_the_holidays_belongs_to_the_definition() -> None:
    forms = {
        last_business_day(at="07:00", holidays=holidays).canonical()
        for holidays in (None, Holidays("a", set()), Holidays("b", set()), Holidays("b", {date(2026, 1, 1)}))
    }

    assert len(forms) == 3
    with pytest.raises(InvalidInput, match="holidays id"):
        Holidays("Not stable!", set())


def test_equal_meanings_have_one_form() -> None:
    assert weekly(WED, MON, at="09:00").canonical() == weekly(MON, WED, MON, at=("09:00", "09:00")).canonical()
    assert weekly(*reversed(list(type(MON))), at="09:00").canonical() == daily(at="09:00").canonical()
    assert monthly(15, at="09:00", clamp=True).canonical() == monthly(15, at="09:00").canonical()
    assert (
        yearly(month=4, day=31, at="09:00", clamp=True).canonical() == yearly(month=4, day=30, at="09:00").canonical()
    )
    assert monthly(31, at="09:00").canonical() != last_day(at="09:00").canonical()
    assert daily(at="09:00").canonical() != daily(at="09:00", zone="Etc/UTC").canonical()


def test_a_skipped_time_fires_when_the_gap_ends_and_a_repeated_one_once() -> None:
    night = daily(at=("02:15", "02:45"), zone="America/New_York")

    spring = list(islice(night.ticks(datetime(2026, 3, 8, 5, tzinfo=UTC)), 2))
    autumn = list(islice(daily(at="01:30", zone="America/New_York").ticks(datetime(2026, 11, 1, tzinfo=UTC)), 2))

    assert spring == [datetime(2026, 3, 8, 7, tzinfo=UTC), datetime(2026, 3, 9, 6, 15, tzinfo=UTC)]
    assert autumn == [datetime(2026, 11, 1, 5, 30, tzinfo=UTC), datetime(2026, 11, 2, 6, 30, tzinfo=UTC)]


def of_month(day: date) -> list[date]:
    return [other for n in range(1, 32) if (other := day.replace(day=1) + timedelta(days=n - 1)).month == day.month]


def working(day: date) -> list[date]:
    return [other for other in of_month(day) if other.isoweekday() < 6]


@pytest.mark.parametrize(
    ("schedule", "meant"),
    [
        (nth_weekday(1, SUN, at="10:00"), lambda day: [d for d in of_month(day) if d.isoweekday() == 7][:1]),
        (nth_weekday(5, MON, at="10:00"), lambda day: [d for d in of_month(day) if d.isoweekday() == 1][4:]),
        (last_weekday(FRI, at="10:00"), lambda day: [d for d in of_month(day) if d.isoweekday() == 5][-1:]),
        (last_weekday(SUN, at="10:00"), lambda day: [d for d in of_month(day) if d.isoweekday() == 7][-1:]),
        (nth_business_day(1, at="10:00"), lambda day: working(day)[:1]),
        (nth_business_day(23, at="10:00"), lambda day: working(day)[22:]),
        (last_business_day(at="10:00"), lambda day: working(day)[-1:]),
        (last_day(at="10:00"), lambda day: of_month(day)[-1:]),
    ],
    ids=lambda value: value.describe() if isinstance(value, Calendar) else "",
)
def test_days_of_a_month_are_those_of_counting_through_it(
    schedule: Calendar, meant: Callable[[date], list[date]]
) -> None:
    days = [START.date() + timedelta(days=n) for n in range(365 * 4)]
    expected = [day for day in days if day in meant(day)]

    found = [tick.date() for tick in islice(schedule.ticks(START), len(expected))]

    assert found == expected


@pytest.mark.parametrize(
    ("define", "message"),
    [
        (lambda: daily(at="9:00"), r"at '9:00' .* position 1 on\. Write \"09:00\""),
        (lambda: daily(at="24:00"), r"position 2 on\. Write \"00:00\", of the day after"),
        (lambda: daily(at="09:60"), r"from position 4 on"),
        (lambda: daily(at="09:00:00"), r"from position 6 on\. Write \"09:00\""),
        (lambda: daily(at=""), r"from position 1 on"),
        (lambda: daily(at=()), r"at has no time"),
        (lambda: daily(at=["09:00"] * 1441), r"more than 1,440 times"),
        (lambda: weekly(at="09:00"), r"weekly has no day"),
        (lambda: weekly("MON", at="09:00"), r"weekly cannot be 'MON'. Give MON to SUN"),  # type: ignore[arg-type]
        (lambda: monthly(0, at="09:00"), r"day 0 is not a whole number in 1 to 31"),
        (lambda: monthly(True, at="09:00"), r"day True is not"),
        (lambda: monthly("last", at="09:00"), r"day cannot be 'last'. Give a number, or a rule"),  # type: ignore[arg-type]
        (
            lambda: monthly(LAST_BUSINESS_DAY, at="09:00", clamp=True),
            r"clamp is for the number of a day, and the last bus",
        ),
        (lambda: nth_weekday(6, MON, at="09:00"), r"nth 6 is not"),
        (lambda: nth_business_day(24, at="09:00"), r"nth 24 is not"),
        (lambda: yearly(month=13, day=1, at="09:00"), r"month 13 is not"),
        (lambda: yearly(month=2, day=30, at="09:00"), r"day 30: February never has it"),
        (lambda: daily(at="09:00", zone="Europe/Olso"), r"Did you mean 'Europe/Oslo'"),
    ],
)
def test_a_wrong_definition_is_refused_and_told_what_to_write(define: Callable[[], object], message: str) -> None:
    with pytest.raises(InvalidSchedule, match=message):
        define()


@given(text=st.text() | st.text("0123456789:.", max_size=8))
@example(text="0" * 1_000_000)
@example(text="09:00\n")
@example(text="\uff10\uff19:\uff10\uff10")
def test_any_text_is_a_time_of_day_or_refused(text: str) -> None:
    try:
        schedule = daily(at=text)
    except InvalidSchedule:
        return

    assert len(text) == 5
    assert schedule.at == (int(text[:2]) * 60 + int(text[3:]),)


@pytest.mark.parametrize(
    ("schedule", "words"),
    [
        (daily(at="09:00"), "every day at 09:00, UTC"),
        (daily(at=("09:00", "13:00", "17:30"), zone="Asia/Tokyo"), "every day at 09:00, 13:00 and 17:30, Asia/Tokyo"),
        (weekly(MON, WED, at="08:30"), "Mondays and Wednesdays at 08:30, UTC"),
        (weekly(*list(Weekday)[:5], at="08:30"), "weekdays at 08:30, UTC"),
        (monthly(1, at="00:00"), "day 1 of each month at 00:00, UTC"),
        (monthly(31, at="00:00"), "day 31 of each month, where there is one, at 00:00, UTC"),
        (monthly(30, at="00:00", clamp=True), "day 30 of each month, or the last day, at 00:00, UTC"),
        (last_day(at="23:59"), "the last day of each month at 23:59, UTC"),
        (nth_weekday(2, TUE, at="10:00"), "the 2nd Tuesday of each month at 10:00, UTC"),
        (nth_weekday(5, TUE, at="10:00"), "the 5th Tuesday of each month, where there is one, at 10:00, UTC"),
        (last_weekday(FRI, at="10:00"), "the last Friday of each month at 10:00, UTC"),
        (nth_business_day(3, at="07:00"), "the 3rd business day of each month at 07:00, UTC"),
        (
            last_business_day(at="18:00", zone="Europe/Oslo", holidays=Holidays("no-2026", ())),
            "the last business day of each month without holidays no-2026 at 18:00, Europe/Oslo",
        ),
        (yearly(month=12, day=31, at="23:59"), "day 31 of December at 23:59, UTC"),
        (yearly(month=2, day=29, at="00:00"), "day 29 of February, where there is one, at 00:00, UTC"),
        (yearly(month=2, day=29, at="00:00", clamp=True), "the last day of February at 00:00, UTC"),
    ],
)
def test_a_description_says_it_in_plain_words_with_the_zone(schedule: Calendar, words: str) -> None:
    assert schedule.describe() == words
