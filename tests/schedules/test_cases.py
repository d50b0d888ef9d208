"""The published cases: instants that three independent methods agree on."""

import json
from collections.abc import Callable
from datetime import datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import tzdata

from klokka.core.records import NewJob
from klokka.errors import InvalidSchedule
from klokka.schedules import (
    Calendar,
    CatchUp,
    Cron,
    FireOnce,
    MisfirePolicy,
    Schedule,
    Skip,
    Weekday,
    cron,
    daily,
    decide,
    fingerprint,
    last_business_day,
    last_day,
    last_weekday,
    monthly,
    nth_business_day,
    nth_weekday,
    weekly,
    yearly,
)

CASES: dict[str, Any] = json.loads(Path(__file__).with_name("cases.json").read_text("utf-8"))
OLD_DATA = CASES["about"]["tzdata"] > tzdata.IANA_VERSION
BUILDERS: dict[str, Callable[..., Calendar]] = {
    "daily": daily,
    "weekly": lambda days, **rest: weekly(*(Weekday[day] for day in days), **rest),
    "monthly_day": monthly,
    "monthly_day_clamped": lambda **rest: monthly(clamp=True, **rest),
    "monthly_last_day": last_day,
    "monthly_nth_weekday": lambda nth, weekday, **rest: nth_weekday(nth, Weekday[weekday], **rest),
    "monthly_last_weekday": lambda weekday, **rest: last_weekday(Weekday[weekday], **rest),
    "monthly_nth_business_day": nth_business_day,
    "monthly_last_business_day": last_business_day,
    "yearly": yearly,
}


def instants(texts: list[str]) -> list[datetime]:
    return [datetime.fromisoformat(text) for text in texts]


def parse(case: dict[str, Any]) -> Cron:
    return cron(case["expr"], zone=case["zone"], seconds=len(case["expr"].split()) == 6)


def named(case: dict[str, Any]) -> str:
    return case.get("id") or case.get("source") or f"{case.get('expr') or case['schedule']} {case.get('zone', '')}"


def check(schedule: Schedule, case: dict[str, Any]) -> None:
    after, expected = datetime.fromisoformat(case["after"]), instants(case["expect"])

    forth = [after]
    for _ in expected:
        forth.append(schedule.next(forth[-1]) or after)
    back = [expected[-1]]
    for _ in expected[1:]:
        back.append(schedule.prev(back[-1]) or after)

    assert forth[1:] == expected
    assert back[::-1] == expected
    assert list(islice(schedule.ticks(after), len(expected))) == expected


@pytest.mark.parametrize("case", CASES["cases"] + CASES["issue_cases"] + CASES["rare_but_valid"], ids=named)
def test_a_cron_expression_fires_at_the_published_instants(case: dict[str, Any]) -> None:
    if "tzdata_sensitive" in case and OLD_DATA:
        pytest.skip(case["tzdata_sensitive"])

    schedule = parse(case)

    check(schedule, case)
    if "kind" in case:
        assert schedule.wild == (case["kind"] == "wildcard")


@pytest.mark.parametrize("case", CASES["dsl_cases"], ids=named)
def test_a_builder_fires_at_the_published_instants(case: dict[str, Any]) -> None:
    definition = dict(case["schedule"])

    schedule = BUILDERS[definition.pop("kind")](**definition, zone=case["zone"])

    check(schedule, case)


@pytest.mark.parametrize("case", CASES["invalid"] + CASES["never_fires"], ids=lambda case: ascii(case["expr"]))
def test_a_wrong_expression_is_refused_with_a_hint(case: dict[str, Any]) -> None:
    with pytest.raises(InvalidSchedule, match=r"(?s)^cron .*: .+\. .+\.$"):
        cron(case["expr"], seconds=len(case["expr"].split()) == 6)


@pytest.mark.parametrize(("macro", "expression"), CASES["macros"].items())
def test_a_macro_is_its_expression(macro: str, expression: str) -> None:
    run = NewJob(kind="report", payload="{}")

    prints = {fingerprint(cron(text), run, FireOnce()) for text in (macro, expression)}

    assert len(prints) == 1


@pytest.mark.parametrize("case", CASES["misfire"], ids=lambda case: f"{case['expr']} {case['now']}")
@pytest.mark.parametrize("key", ["skip", "fire_once", "catch_up_at_most_3"])
def test_missed_ticks_are_decided_as_published(case: dict[str, Any], key: str) -> None:
    threshold = timedelta(seconds=case["misfire_threshold_s"])
    policies: dict[str, MisfirePolicy] = {
        "skip": Skip(threshold=threshold),
        "fire_once": FireOnce(threshold=threshold),
        "catch_up_at_most_3": CatchUp(at_most=3, threshold=threshold),
    }
    schedule = parse(case)
    cursor = schedule.next(datetime.fromisoformat(case["last_handled_tick_or_registered_at"]))
    assert cursor is not None

    decision = decide(schedule, cursor, datetime.fromisoformat(case["now"]), policies[key])

    assert list(decision.fires) == instants(case[key])
    assert decision.next_fire_at == datetime.fromisoformat(case["next_tick_after_now"])
    assert decision.skipped.number + len(decision.fires) == case["due_count"]
    assert decision.skipped.exact
