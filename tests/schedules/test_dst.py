from datetime import UTC, datetime, timedelta
from itertools import takewhile

from hypothesis import assume, given, strategies as st

from klokka.errors import InvalidSchedule
from klokka.schedules import Cron, cron, daily, load_zone
from tests.schedules import oracle
from tests.schedules.expressions import ZONES, expressions, near_transitions, slow
from tests.schedules.walking import at_once, walk, walk_back

HOUR = timedelta(hours=1)


def valid(expression: str, zone: str, *, seconds: bool = False) -> Cron:
    try:
        return cron(expression, zone=zone, seconds=seconds)
    except InvalidSchedule as refused:
        assume("never fires" not in str(refused))
        raise


@slow
@given(expression=expressions(), where=near_transitions())
def test_ticks_near_a_clock_change_are_those_of_the_slow_evaluator(
    expression: str, where: tuple[str, datetime]
) -> None:
    zone, after = where
    schedule = valid(expression, zone)
    end = after + 27 * HOUR
    matches, wild = oracle.matcher(expression)

    expected = oracle.ticks(matches, load_zone(zone), after, end, wild=wild)

    assert at_once(schedule, after, end) == expected
    assert walk(schedule, after, end) == expected
    assert walk_back(schedule, after, end) == expected


@slow
@given(expression=expressions(seconds=True), where=near_transitions())
def test_six_fields_obey_the_same_rule(expression: str, where: tuple[str, datetime]) -> None:
    zone, after = where
    schedule = valid(expression, zone, seconds=True)
    end = after + timedelta(minutes=20)
    matches, wild = oracle.matcher(expression)
    assume(wild)  # looking for the first occurrence second by second would take too long

    expected = [
        instant
        for instant in (after.replace(microsecond=0) + timedelta(seconds=n) for n in range(1, 1201))
        if after < instant <= end and matches(instant.astimezone(load_zone(zone)).replace(tzinfo=None))
    ]

    assert at_once(schedule, after, end) == expected
    assert walk(schedule, after, end) == expected


@slow
@given(expression=expressions(), where=near_transitions(), shift=st.integers(0, 10**6))
def test_next_grows_with_the_instant_and_prev_undoes_it(
    expression: str, where: tuple[str, datetime], shift: int
) -> None:
    zone, after = where
    schedule = valid(expression, zone)

    tick = schedule.next(after)

    assert tick is not None
    assert tick > after
    later = schedule.next(after + timedelta(seconds=shift))
    assert later is not None
    assert later >= tick
    assert schedule.next(tick - timedelta(microseconds=1)) == tick
    assert schedule.prev(tick + timedelta(microseconds=1)) == tick
    before = schedule.prev(tick)
    assert before is None or (before <= after and schedule.next(before) == tick)


@given(where=near_transitions(), minute=st.integers(0, 1439))
@slow
def test_a_daily_time_fires_once_for_each_local_date(where: tuple[str, datetime], minute: int) -> None:
    zone, after = where
    at = f"{minute // 60:02}:{minute % 60:02}"
    schedule = daily(at=at, zone=zone)

    ticks = list(takewhile(lambda tick: tick < after + timedelta(days=5), schedule.ticks(after - timedelta(days=5))))

    meant = sorted(
        {
            _first(
                datetime.combine((after + timedelta(days=n)).date(), datetime.min.time()) + timedelta(minutes=minute),
                zone,
            )
            for n in range(-8, 9)
        }
    )
    assert ticks == [tick for tick in meant if after - timedelta(days=5) < tick < after + timedelta(days=5)]


@slow
@given(expression=expressions(), zone=st.sampled_from(ZONES), year=st.integers(1, 9999), seed=st.integers(0, 8000))
def test_the_whole_calendar_is_covered(expression: str, zone: str, year: int, seed: int) -> None:
    schedule = valid(expression, zone)
    after = datetime(year, 1, 1, tzinfo=UTC) + timedelta(hours=seed)

    tick = schedule.next(after)

    if tick is None:
        assert year > 9940
    else:
        assert tick > after
        assert schedule.prev(tick + timedelta(microseconds=1)) == tick


def test_half_an_hour_is_shifted_in_lord_howe() -> None:
    wild = cron("*/15 * * * *", zone="Australia/Lord_Howe")
    after = datetime(2024, 4, 6, 14, 20, tzinfo=UTC)

    labels = [
        f"{tick.astimezone(load_zone('Australia/Lord_Howe')):%H:%M%z}"
        for tick in takewhile(lambda tick: tick < after + 2 * HOUR, wild.ticks(after))
    ]

    assert labels == [
        *("01:30+1100", "01:45+1100", "01:30+1030", "01:45+1030"),
        *("02:00+1030", "02:15+1030", "02:30+1030", "02:45+1030"),
    ]


def test_offsets_of_odd_seconds_are_exact() -> None:
    monrovia = daily(at="12:00", zone="Africa/Monrovia")  # behind by 44 minutes and 30 seconds until 1972

    assert monrovia.next(datetime(1960, 1, 1, tzinfo=UTC)) == datetime(1960, 1, 1, 12, 44, 30, tzinfo=UTC)


def test_a_day_that_comes_twice_is_fired_by_the_rule() -> None:
    zone = "America/Juneau"  # 18 October 1867 came twice, by 24 hours
    (change,) = oracle.transitions(load_zone(zone), 1867, 1868)
    low, high = change - 26 * HOUR, change + 26 * HOUR

    noons = walk(daily(at="12:00", zone=zone), low, high)
    hours = walk(cron("0 * * * *", zone=zone), low, high)

    matches, _ = oracle.matcher("0 12 * * *")
    second = timedelta(seconds=1)
    assert noons == oracle.ticks(matches, load_zone(zone), low, high, wild=False, step=second)
    assert len(hours) == 52


def test_sparse_expressions_choose_the_pass_of_their_own_year() -> None:
    """The offset after one year's repeated hour is that before the next one's second pass."""
    for expression in ("*/30 1 1-7 11 *", "*/30 1 3,5 11 *", "*/30 1 5 6,11 *", "0,30 1 1-7 11 *", "*/30 2 8-14 3 *"):
        schedule = cron(expression, zone="America/New_York")
        matches, wild = oracle.matcher(expression)
        low, high = datetime(2023, 10, 1, tzinfo=UTC), datetime(2025, 12, 1, tzinfo=UTC)

        expected = oracle.ticks(
            matches, load_zone("America/New_York"), low, high, wild=wild, step=timedelta(minutes=30)
        )

        assert at_once(schedule, low, high) == expected
        assert walk(schedule, low, high) == expected
        assert walk_back(schedule, low, high) == expected


def test_a_star_in_the_seconds_makes_a_schedule_wild_too() -> None:
    start = datetime(2024, 11, 3, 5, tzinfo=UTC)

    wild = cron("*/30 30 1 * * *", seconds=True, zone="America/New_York")
    fixed = cron("0,30 30 1 * * *", seconds=True, zone="America/New_York")

    assert [f"{tick:%H:%M:%S}" for tick in at_once(wild, start, start + 3 * HOUR)] == [
        *("05:30:00", "05:30:30", "06:30:00", "06:30:30"),
    ]
    assert [f"{tick:%H:%M:%S}" for tick in at_once(fixed, start, start + 3 * HOUR)] == ["05:30:00", "05:30:30"]


def _first(label: datetime, zone: str) -> datetime:
    """By PEP 495 alone: a time in a gap is read under the offset before it, and then moved back to where the gap ends."""
    info = load_zone(zone)
    instant = label.replace(tzinfo=info).astimezone(UTC)
    if instant.astimezone(info).replace(tzinfo=None, fold=0) == label:
        return instant
    later = instant
    while later.astimezone(info).utcoffset() == instant.astimezone(info).utcoffset():
        later -= timedelta(minutes=1)
    return later + timedelta(minutes=1)
