import time
from datetime import datetime

import pytest
from cronsim import CronSim
from hypothesis import assume, example, given, settings, strategies as st

from klokka.errors import InvalidSchedule
from klokka.schedules import cron
from tests.schedules.expressions import expressions, slow

ALPHABET = "0123456789*,-/ \tLW#?HR~%@=_.+MONJASUFEBdaily\n\0\u00a0\ud800\uff11"


def spent(text: str, *, seconds: bool) -> float:
    """The quickest of three, since the machine may be busy with something else."""
    times: list[float] = []
    message = ""
    while len(times) < 3 and min(times, default=1.0) > 0.005:
        begin = time.thread_time()
        try:
            cron(text, seconds=seconds)
        except InvalidSchedule as refused:
            message = str(refused)
        times.append(time.thread_time() - begin)
    assert len(message) < 400
    return min(times)


@given(text=st.text() | st.text(ALPHABET) | st.text(ALPHABET, min_size=200), seconds=st.booleans())
@example(text="9" * 100_000, seconds=False)
@example(text="* " * 50_000, seconds=True)
@example(text="*," * 499 + "* * * * *", seconds=False)
@example(text="0-59," * 180 + "* * * * *", seconds=False)
@example(text="@" + "d" * 990, seconds=False)
@example(text="@" + "d" * 10_000_000, seconds=False)
@example(text=" " * 10_000_000, seconds=False)
@example(text="0-" + "9" * 900 + " * * * *", seconds=False)
@example(text="*/" + "9" * 900 + " * * * *", seconds=False)
@example(text=" ".join([",".join(["0-7/1"] * 23)] * 6), seconds=True)
@settings(deadline=None, max_examples=300)
def test_any_text_is_parsed_or_refused_within_ten_milliseconds(text: str, seconds: bool) -> None:
    assert spent(text, seconds=seconds) < 0.010


@given(text=expressions())
@slow
def test_what_is_accepted_means_the_same_to_cronsim(text: str) -> None:
    try:
        fields = cron(text).fields
    except InvalidSchedule as refused:
        assume("never fires" not in str(refused))
        raise

    theirs = CronSim(text, datetime(2024, 1, 1))  # noqa: DTZ001 naive on purpose

    assert set(fields.minute.values) == theirs.minutes
    assert set(fields.hour.values) == theirs.hours
    assert set(fields.day.values) == theirs.days
    assert set(fields.month.values) == theirs.months
    assert set(fields.weekday.values) == {int(str(value)) % 7 for value in theirs.weekdays}
    assert fields.both_days == theirs.day_and


@given(text=expressions(seconds=True))
@slow
def test_the_text_of_a_schedule_parses_to_an_equal_one(text: str) -> None:
    try:
        schedule = cron(text, seconds=True, zone="Europe/Oslo")
    except InvalidSchedule as refused:
        assume("never fires" not in str(refused))
        raise

    again = cron(str(schedule), seconds=schedule.seconds, zone=schedule.zone)

    assert again == schedule
    assert hash(again) == hash(schedule)
    assert again.canonical() == schedule.canonical()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0 9 * * MON-", r"day of week, position 12: '-' does not belong here"),
        ("0  9\t32 * *", r"day of month, position 6: 32 is not in 1 to 31"),
        ("0 9 1,2,33 * *", r"day of month, position 9: 33 is not in"),
        ("0 9 1-40 * *", r"day of month, position 7: 40 is not in"),
        ("0 9 * * FRI-SUN", r"position 9: 'FRI-SUN' is a range that goes backwards\. Write 5-7"),
        ("0 9 * NOV-FEB *", r"Write 11-12,1-2\."),
        ("0 9 * * 0-7/7", r"position 13: '0-7/7' has a step that never comes round"),
        ("0 9 * * 3-3/1", r"position 13: .* Write 3 alone\."),
        ("0 9 * * MON,,TUE", r"position 13: a term is missing"),
        ("0 9 1, * *", r"position 7: a term is missing"),
        ("0 9 L * *", r"'L' is of another dialect\. .*last_day"),
        ("0 9 * JANUARY *", r"Names have three letters: JAN\."),
        ("0 0 9 * * *", r"6 fields and not 5\. For a first field of seconds give seconds=True"),
        ("  @dayly", r"position 3: it is not a macro"),
        ("@every 5m", r"Use every\(timedelta\(minutes=5\)\)"),
        ("@fortnight", r"Known: @hourly, "),
        ("0 0 30 2 *", r"day of month: no month that it names has such a day, so it never fires"),
    ],
)
def test_a_refusal_names_field_position_and_what_to_write(text: str, message: str) -> None:
    with pytest.raises(InvalidSchedule, match=message):
        cron(text)


def test_five_fields_are_refused_where_six_are_asked_for() -> None:
    with pytest.raises(InvalidSchedule, match="Put the seconds in front"):
        cron("0 9 * * *", seconds=True)


def test_the_number_of_terms_and_the_length_are_bounded() -> None:
    every_minute = ",".join(str(minute) for minute in range(60))

    assert len(cron(f"{every_minute} * * * *").fields.minute.values) == 60
    with pytest.raises(InvalidSchedule, match=r"61 terms, the limit is 60"):
        cron(f"{every_minute},0 * * * *")
    with pytest.raises(InvalidSchedule, match=r"1,001 characters, the limit is 1,000"):
        cron("* * * * *".ljust(1001))


def test_blanks_case_and_leading_zeros_do_not_matter() -> None:
    assert str(cron("\t00  009 *   jan Mon-FRI ")) == "00 009 * JAN MON-FRI"
    assert cron("\t00  009 *   jan Mon-FRI ").canonical() == cron("0 9 * 1 1-5").canonical()


def test_a_macro_takes_second_zero_where_seconds_are_asked_for() -> None:
    assert str(cron(" @Daily ", seconds=True)) == "0 0 0 * * *"
