import pytest
from hypothesis import assume, given

from klokka.errors import InvalidSchedule
from klokka.schedules import cron
from tests.schedules.expressions import expressions, slow


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("0 9 * * 1-5", "weekdays at 09:00"),
        ("0 9 * * *", "every day at 09:00"),
        ("0,30 9,17 * * 6,0", "weekends at 09:00, 09:30, 17:00 and 17:30"),
        ("* * * * *", "every minute"),
        ("*/15 * * * *", "every 15 minutes"),
        ("0 * * * *", "every hour"),
        ("0 */2 * * *", "every 2 hours"),
        ("5 * * * *", "at minute 5 of every hour"),
        ("5,20 * * * 1", "Mondays at minutes 5 and 20 of every hour"),
        ("*/7 * * * *", "at minutes 0, 7, 14, 21, 28, 35, 42, 49 and 56 of every hour"),
        ("*/15 9-17 * * 1,3", "every 15 minutes from 09:00 to 17:45 on Mondays and Wednesdays"),
        ("0 9-17 * * *", "every hour from 09:00 to 17:00"),
        ("0 0-8,12-15 * * *", "every hour in the hours 0 to 8 and 12 to 15"),
        ("0 0 1 * *", "day 1 of each month at 00:00"),
        ("0 0 1,15 1,7 *", "days 1 and 15 of January and July at 00:00"),
        ("0 0 1-7 * *", "days 1 to 7 of each month at 00:00"),
        ("0 0 13 * 5", "day 13 of each month and all Fridays at 00:00"),
        ("0 0 13 1 5", "day 13 of January and all Fridays in January at 00:00"),
        ("0 0 */10 * 1", "Mondays that fall on days 1, 11, 21 and 31 of each month at 00:00"),
        ("0 0 1-31 * 5", "every day at 00:00"),
        ("0 0 * 2 *", "all days in February at 00:00"),
        ("*/5 * * 12 *", "every 5 minutes on all days in December"),
        ("0 9 * 1-3 1-5", "weekdays in January to March at 09:00"),
    ],
)
def test_five_fields_are_said_in_plain_words(expression: str, words: str) -> None:
    assert cron(expression).describe() == f"{words}, UTC"
    assert cron(expression, zone="America/Toronto").describe() == f"{words}, America/Toronto"


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("30 0 9 * * *", "every day at 09:00:30"),
        ("* * * * * *", "every second"),
        ("*/10 * * * * *", "every 10 seconds"),
        ("*/10 0-4 9 * * 1-5", "every 10 seconds of minute 0 to 4 from 09:00 to 09:04:50 on weekdays"),
        ("5 * * * * *", "at second 5 of every minute"),
    ],
)
def test_six_fields_are_said_in_plain_words(expression: str, words: str) -> None:
    assert cron(expression, seconds=True).describe() == f"{words}, UTC"


@slow
@given(expression=expressions(seconds=True))
def test_every_expression_can_be_described(expression: str) -> None:
    try:
        schedule = cron(expression, seconds=True)
    except InvalidSchedule as refused:
        assume("never fires" not in str(refused))
        raise

    assert schedule.describe().endswith(", UTC")
