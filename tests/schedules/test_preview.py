from datetime import UTC, datetime, timedelta

from klokka.schedules import Fire, cron, daily, every, preview


def seen(fires: list[Fire]) -> list[tuple[str, tuple[str, ...]]]:
    return [(fire.local.isoformat(), fire.notes) for fire in fires]


def test_a_skipped_time_says_why_it_fires_later() -> None:
    fires = preview(cron("30 2 * * *", zone="America/New_York"), after=datetime(2024, 3, 9, 12, tzinfo=UTC), most=2)

    assert seen(fires) == [
        (
            "2024-03-10T03:00:00-04:00",
            ("2024-03-10 02:30 does not exist: clocks go from 02:00 to 03:00, and it fires there",),
        ),
        ("2024-03-11T02:30:00-04:00", ()),
    ]
    assert fires[0].at == datetime(2024, 3, 10, 7, tzinfo=UTC)


def test_a_day_that_is_missing_is_named_by_its_dates() -> None:
    fires = preview(daily(at="09:00", zone="Pacific/Apia"), after=datetime(2011, 12, 29, 20, tzinfo=UTC), most=1)

    assert fires[0].notes == (
        "2011-12-30 09:00 does not exist: clocks go from 2011-12-30 00:00 to 2011-12-31 00:00, and it fires there",
    )


def test_a_repeated_hour_tells_the_passes_apart() -> None:
    fires = preview(cron("30 * * * *", zone="America/New_York"), after=datetime(2024, 11, 3, 4, 45, tzinfo=UTC), most=3)

    assert seen(fires) == [
        ("2024-11-03T01:30:00-04:00", ("01:30 comes twice on this date: the first time",)),
        (
            "2024-11-03T01:30:00-05:00",
            (
                "01:30 comes twice on this date: the second time",
                "clocks changed since the fire before: UTC-04:00 became UTC-05:00",
            ),
        ),
        ("2024-11-03T02:30:00-05:00", ()),
    ]


def test_a_fixed_time_in_a_repeated_hour_fires_once_and_says_so() -> None:
    fires = preview(daily(at="01:30", zone="America/New_York"), after=datetime(2024, 11, 2, 12, tzinfo=UTC), most=2)

    assert [fire.notes for fire in fires] == [
        ("01:30 comes twice on this date: it fires the first time only",),
        ("clocks changed since the fire before: UTC-04:00 became UTC-05:00",),
    ]


def test_a_time_that_stands_at_the_end_of_a_gap_by_itself_needs_no_word() -> None:
    fires = preview(cron("0 3 * * *", zone="America/New_York"), after=datetime(2024, 3, 10, tzinfo=UTC), most=1)

    assert seen(fires) == [("2024-03-10T03:00:00-04:00", ())]


def test_elapsed_time_knows_no_clocks() -> None:
    fires = preview(every(timedelta(hours=8)), after=datetime(2024, 3, 10, tzinfo=UTC), most=2)

    assert seen(fires) == [("2024-03-10T08:00:00+00:00", ()), ("2024-03-10T16:00:00+00:00", ())]
