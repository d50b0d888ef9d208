"""Where the calendar begins and ends, and where there is little to find in it."""

from datetime import UTC, datetime, timedelta

import pytest

from klokka.errors import InvalidTime
from klokka.schedules import Schedule, cron, daily, every, last_business_day, monthly, preview, yearly

FIRST = datetime.min.replace(tzinfo=UTC)
LAST = datetime.max.replace(tzinfo=UTC)
ZONES = ["UTC", "America/New_York", "Etc/GMT+12", "Pacific/Kiritimati", "Asia/Tokyo", "Asia/Kathmandu"]
SECOND = timedelta(seconds=1)


def schedules(zone: str) -> list[Schedule]:
    return [
        cron("* * * * *", zone=zone),
        cron("0-59 0-23 * * *", zone=zone),
        cron("* * * * * *", zone=zone, seconds=True),
        cron("59 59 23 31 12 *", zone=zone, seconds=True),
        cron("0 0 29 2 *", zone=zone),
        daily(at=("00:00", "23:59"), zone=zone),
        last_business_day(at="12:00", zone=zone),
        yearly(month=2, day=29, at="00:00", zone=zone),
        every(timedelta(hours=7), offset=timedelta(minutes=11)),
    ]


@pytest.mark.parametrize("zone", ZONES)
def test_the_calendar_ends_a_schedule_without_an_error(zone: str) -> None:
    for schedule in schedules(zone):
        for back in range(0, 40, 3):
            instant = LAST - timedelta(hours=back)

            following = schedule.next(instant)

            assert following is None or following > instant
            assert len(list(schedule.ticks(LAST - timedelta(minutes=10)))) <= 600
            assert schedule.next(LAST) is None
            assert len(preview(schedule, after=instant, most=3)) <= 3


@pytest.mark.parametrize("zone", ZONES)
def test_the_calendar_begins_a_schedule_without_an_error(zone: str) -> None:
    for schedule in schedules(zone):
        for ahead in range(0, 40, 3):
            instant = FIRST + timedelta(hours=ahead)

            before = schedule.prev(instant)
            following = schedule.next(instant)

            assert before is None or before < instant
            assert following is not None
            assert following > instant
            assert schedule.prev(FIRST) is None
            assert preview(schedule, after=instant, most=3)[0].at == following


def test_the_very_last_and_the_very_first_tick_are_found() -> None:
    seconds = cron("* * * * * *", seconds=True)

    assert seconds.prev(LAST) == LAST.replace(microsecond=0)
    assert seconds.next(LAST.replace(microsecond=0) - SECOND) == LAST.replace(microsecond=0)
    assert seconds.next(LAST.replace(microsecond=0)) is None
    assert seconds.prev(FIRST + SECOND) == FIRST
    assert daily(at="00:00", zone="Etc/GMT+12").next(FIRST) == FIRST + timedelta(hours=12)
    assert daily(at="23:59", zone="Etc/GMT-14").prev(LAST) == datetime(9999, 12, 31, 9, 59, tzinfo=UTC)


def test_leap_days_are_found_across_centuries() -> None:
    sundays = cron("0 0 29 2 */6")  # both must match: Sunday or Saturday

    assert cron("0 0 29 2 *").next(datetime(1896, 3, 1, tzinfo=UTC)) == datetime(1904, 2, 29, tzinfo=UTC)
    assert sundays.next(datetime(2088, 3, 1, tzinfo=UTC)) == datetime(2116, 2, 29, tzinfo=UTC)
    assert sundays.prev(datetime(2116, 2, 29, tzinfo=UTC)) == datetime(2088, 2, 29, tzinfo=UTC)


def test_a_calendar_without_business_days_ends_instead_of_searching_for_ever() -> None:
    class Always:
        id = "always"

        def is_holiday(self, day: object, /) -> bool:
            return True

    schedule = last_business_day(at="09:00", holidays=Always())

    assert schedule.next(datetime(2024, 1, 1, tzinfo=UTC)) is None
    assert schedule.prev(datetime(2024, 1, 1, tzinfo=UTC)) is None


@pytest.mark.parametrize("schedule", [every(timedelta(hours=1)), monthly(1, at="09:00"), cron("* * * * *")])
def test_a_naive_time_is_refused(schedule: Schedule) -> None:
    naive = datetime(2024, 1, 1)  # noqa: DTZ001

    with pytest.raises(InvalidTime, match="no time zone"):
        schedule.next(naive)
    with pytest.raises(InvalidTime, match="no time zone"):
        schedule.prev(naive)
    with pytest.raises(InvalidTime, match="no time zone"):
        list(schedule.ticks(naive))
