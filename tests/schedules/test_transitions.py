"""Every clock change from 2000 to 2040. A sample by default; `KLOKKA_THOROUGH=1` checks all zones of the database."""

import random
from datetime import UTC, datetime, timedelta

import pytest

from klokka.schedules import cron, load_zone, zone_names
from tests.schedules import oracle
from tests.schedules.expressions import THOROUGH
from tests.schedules.walking import at_once

EXPRESSIONS = (
    "*/15 * * * *",
    "0 */2 * * *",
    "30 2 * * *",
    "15,45 0-3 * * *",
    "0,30 23 * * *",
    "0 1 * * 0",
    "45 * 28-31 * 6",
)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
QUARTER = timedelta(minutes=15)
ZONES = sorted(zone_names()) if THOROUGH else [*random.Random(2026).sample(sorted(zone_names()), 8), "Pacific/Apia"]
CHANGES = None if THOROUGH else 3


@pytest.mark.parametrize("zone", ZONES)
def test_each_clock_change_is_passed_as_the_slow_evaluator_does(zone: str) -> None:
    info = load_zone(zone)
    changes = oracle.transitions(info, 2000, 2041 if THOROUGH else 2013)
    random.Random(zone).shuffle(changes)

    for change in changes[:CHANGES]:
        step = MINUTE if (change - EPOCH) % QUARTER else QUARTER
        low, high = change - timedelta(hours=5), change + timedelta(hours=5)
        for expression in EXPRESSIONS:
            schedule = cron(expression, zone=zone)
            matches, wild = oracle.matcher(expression)

            expected = oracle.ticks(matches, info, low, high, wild=wild, step=step)

            assert at_once(schedule, low, high) == expected
            back = [tick for tick in [schedule.prev(tick) for tick in expected[1:]] if tick is not None]
            assert back == expected[:-1]
            asked = [low + QUARTER * n + timedelta(minutes=7) for n in range(40)]
            assert [schedule.next(instant) for instant in asked] == [
                next((tick for tick in expected if tick > instant), schedule.next(high)) for instant in asked
            ]
