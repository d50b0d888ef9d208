import os
import subprocess
import sys
import time
from datetime import UTC, datetime
from importlib.resources import files

import pytest
import tzdata
from hypothesis import example, given, settings, strategies as st

from klokka.errors import InvalidSchedule
from klokka.schedules import cron, daily, load_zone, zone_names


@given(name=st.text() | st.text("AEUuroe/._-\\\0 ~") | st.text("America/New_Yrok", max_size=70))
@example(name="../UTC")
@example(name="/etc/passwd")
@example(name="Europe/../UTC")
@example(name="Europe")
@example(name="C:\\Windows")
@example(name="UTC\0")
@example(name="\ud800")
@example(name="E" * 1_000_000)
@settings(deadline=None)
def test_any_name_is_a_zone_or_refused_within_ten_milliseconds(name: str) -> None:
    load_zone("UTC")

    times: list[float] = []
    while len(times) < 3 and min(times, default=1.0) > 0.008:
        begin = time.thread_time()
        if name in zone_names():
            assert load_zone(name).key == name
        else:
            with pytest.raises(InvalidSchedule, match="is not a zone of the IANA database"):
                load_zone(name)
        times.append(time.thread_time() - begin)

    assert min(times) < 0.010


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [
        ("Amerika/New_York", "America/New_York"),
        ("europe/oslo", "Europe/Oslo"),
        ("Toronto", "America/Toronto"),
        ("New York", "America/New_York"),
        ("utc", "UTC"),
        (" Europe/Paris", "Europe/Paris"),
    ],
)
def test_a_wrong_zone_gets_the_likeliest_one(wrong: str, meant: str) -> None:
    with pytest.raises(InvalidSchedule, match=f"Did you mean '{meant}'"):
        cron("0 9 * * *", zone=wrong)


def test_a_zone_is_checked_where_a_schedule_is_defined() -> None:
    with pytest.raises(InvalidSchedule, match="zone 'Moon/Tycho'"):
        daily(at="09:00", zone="Moon/Tycho")


def test_every_zone_of_the_package_loads_from_the_package() -> None:
    with (files("tzdata") / "zoneinfo" / "Europe" / "Oslo").open("rb") as file:
        assert file.read(4) == b"TZif"

    assert all(load_zone(name).key == name for name in zone_names())
    assert tzdata.IANA_VERSION >= "2024"


@pytest.mark.parametrize("host", ["UTC", "Pacific/Apia", "America/New_York"])
def test_the_zone_of_the_host_has_no_effect(host: str) -> None:
    script = (
        "from datetime import datetime, UTC\n"
        "from klokka.schedules import cron, daily, every\n"
        "from datetime import timedelta\n"
        "after = datetime(2024, 3, 10, 6, 59, tzinfo=UTC)\n"
        "for s in (cron('30 2 * * *', zone='America/New_York'), daily(at='02:30'), every(timedelta(hours=5))):\n"
        "    print(s.next(after), s.prev(after))\n"
    )
    environment = {**os.environ, "TZ": host, "PYTHONTZPATH": "/nowhere"}

    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, timeout=30, check=True
    )

    assert done.stdout.splitlines() == [
        "2024-03-10 07:00:00+00:00 2024-03-09 07:30:00+00:00",
        "2024-03-11 02:30:00+00:00 2024-03-10 02:30:00+00:00",
        "2024-03-10 07:00:00+00:00 2024-03-10 02:00:00+00:00",
    ]


def test_ticks_come_out_in_utc() -> None:
    tick = daily(at="09:00", zone="Asia/Tokyo").next(datetime(2024, 1, 1, tzinfo=load_zone("Asia/Tokyo")))

    assert tick == datetime(2024, 1, 1, tzinfo=UTC)
    assert tick.tzinfo is UTC
