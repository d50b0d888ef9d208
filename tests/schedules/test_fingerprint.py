from datetime import timedelta

import pytest

from klokka.core.records import NewJob
from klokka.schedules import (
    CatchUp,
    FireOnce,
    MisfirePolicy,
    Schedule,
    Skip,
    cron,
    daily,
    every,
    fingerprint,
    last_day,
    monthly,
)

RUN = NewJob(kind="report", payload='{"day": 1}', headers={"a": "1", "b": "2"})


def printed(schedule: Schedule, run: NewJob = RUN, policy: MisfirePolicy | None = None) -> str:
    return fingerprint(schedule, run, policy or FireOnce())


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (cron("0 9 * * MON-FRI"), cron("0 9 * * 1-5")),
        (cron("0 9 * * 7"), cron("0 9 * * 0")),
        (cron("0 9 * * 5,1,3"), cron("0 9 * * 1,3,5,5")),
        (cron("  0\t9   * * sun "), cron("00 09 * * SUN")),
        (cron("*/1 * * * *"), cron("* * * * *")),
        (cron("0-10/5 9 * * *"), cron("0,5,10 9 * * *")),
        (cron("0 9 * * *"), cron("0 0 9 * * *", seconds=True)),
        (cron("@daily"), cron("0 0 * * *")),
        (every(timedelta(minutes=60)), every(timedelta(hours=1), offset=timedelta(hours=3))),
        (monthly(31, clamp=True, at="09:00"), last_day(at="09:00")),
    ],
)
def test_equal_meanings_have_equal_fingerprints(one: Schedule, other: Schedule) -> None:
    assert printed(one) == printed(other)


def test_unequal_definitions_have_unequal_fingerprints() -> None:
    daily_nine = cron("0 9 * * *")
    prints = [
        printed(daily_nine),
        printed(cron("0 9 * * *", zone="Etc/UTC")),
        printed(cron("*/15 9 * * *")),
        printed(cron("0,15,30,45 9 * * *")),
        printed(cron("*/15 * * * *")),
        printed(cron("0,15,30,45 * * * *")),
        printed(cron("0 9 1-31 * *")),
        printed(cron("0 9 13 * 5")),
        printed(cron("0 9 13 * */5")),
        printed(cron("30 0 9 * * *", seconds=True)),
        printed(daily(at="09:00")),
        printed(every(timedelta(hours=1))),
        printed(every(timedelta(hours=2))),
        printed(every(timedelta(hours=2), offset=timedelta(hours=1))),
        printed(daily_nine, NewJob(kind="other", payload=RUN.payload, headers=RUN.headers)),
        printed(daily_nine, NewJob(kind="report", payload="{}", headers=RUN.headers)),
        printed(daily_nine, RUN.options(queue="slow")),
        printed(daily_nine, RUN.options(unique_key="one")),
        printed(daily_nine, RUN.options(delay=timedelta(seconds=1))),
        printed(daily_nine, RUN.options(headers={"c": "3"})),
        printed(daily_nine, policy=Skip()),
        printed(daily_nine, policy=FireOnce(threshold=timedelta(minutes=2))),
        printed(daily_nine, policy=CatchUp(at_most=1)),
        printed(daily_nine, policy=CatchUp(at_most=2)),
    ]

    assert len(set(prints)) == len(prints)


def test_the_order_of_headers_does_not_count() -> None:
    turned = NewJob(kind="report", payload='{"day": 1}', headers={"b": "2", "a": "1"})

    assert printed(daily(at="09:00")) == printed(daily(at="09:00"), turned)


def test_a_fingerprint_is_the_same_in_every_release() -> None:
    """A change of this value restarts every schedule of everybody: raise the version of the form, and say so."""
    pinned = "4efb1632b75ebb4ee6e482cd5e58b9dda753a497abf69dbede8c3973cfdc042f"

    assert printed(cron("0 9 * * 1-5", zone="America/Toronto")) == pinned
