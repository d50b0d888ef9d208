"""The report, for people, as JSON and as JUnit."""

import json
from dataclasses import replace
from datetime import timedelta
from xml.etree import ElementTree as Xml

import pytest

from klokka.stores.memory.store import MemoryStore
from klokka.tck import report_json, report_junit, report_text
from klokka.tck.campaign import conduct
from klokka.tck.choice import chosen
from klokka.tck.clauses import text_of, texts
from klokka.tck.report import Report, Standing
from tests.support.subjects import memory_factory
from tests.tck.saboteurs.claims import IsAMicrosecondLate
from tests.tck.test_clauses import of_the_kit


@pytest.fixture(scope="module")
def broken() -> Report:
    return conduct(memory_factory(IsAMicrosecondLate), chosen(["claim.due", "wakeups.recover"]), seed=5)


@pytest.fixture(scope="module")
def right() -> Report:
    return conduct(memory_factory(), chosen(["lease", "wakeups.recover"]), seed=5)


def test_every_clause_has_its_text() -> None:
    assert of_the_kit() <= set(texts())
    assert text_of("claim.due") == "Nothing before its time; due exactly now is due. Time decides, not state."
    assert text_of("key.owner").startswith("Frees the key if `token` is the one that claimed it")


def test_levels_are_reached_or_broken_or_not_asked(broken: Report, right: Report) -> None:
    assert {
        reach.level.name: reach.standing for reach in right.reaches() if reach.level.name in ("leases", "wakeups")
    } == {
        "leases": Standing.REACHED,
        "wakeups": Standing.UNASKED,
    }
    assert broken.reaches()[0].standing is Standing.BROKEN
    assert broken.standing_of("claim.due") is Standing.BROKEN


def test_a_failure_says_the_clause_what_was_seen_the_steps_and_how_to_see_it_again(broken: Report) -> None:
    told = report_text.text(broken)

    assert "FAILED claim.a_scheduled_job_is_due_exactly_at_its_time [claim.due]" in told
    assert "[claim.due] Nothing before its time; due exactly now is due." in told
    assert "seen:                       []\n    a right store would answer: [1, 2]" in told
    assert "the kit   moves the store's clock by 0:00:00.000001" in told
    assert "again: klokka tck … --seed 5 --only claim.a_scheduled_job_is_due_exactly_at_its_time" in told
    assert told.splitlines()[0].startswith("memory 3.")


def test_what_time_has_cut_short_stands_there(right: Report) -> None:
    passed = replace(right.passed[0], shortened="3 plays of 100 in 20 s")
    short = replace(right, results=[passed, *right.passed[1:]])

    assert f"on a faster machine:\n  {passed.check.id}: 3 plays of 100 in 20 s" in report_text.text(short)
    assert report_json.document(short)["checks"][0]["cut_short"] == "3 plays of 100 in 20 s"
    assert "cut short by time: 3 plays of 100 in 20 s" in report_junit.junit(short)
    assert "cut short" not in report_text.text(right) + report_junit.junit(right)


def test_what_was_skipped_stands_there_with_its_reason(right: Report) -> None:
    told = report_text.text(right, full=True)

    assert "skipped, by reason:\n  the factory gives no `cut`\n    wakeups.a_dropped_connection" in told
    assert "    passed   leases.a_cursor_moves_forward_only (" in told


def test_the_document_says_the_same(broken: Report) -> None:
    document = json.loads(json.dumps(report_json.document(broken)))

    assert (document["conforms"], document["seed"], document["store"]["name"]) == (False, 5, "memory")
    assert document["counts"]["failed"] == len(broken.failed)
    failed = next(check for check in document["checks"] if check["result"] == "failed" and check["steps"])
    assert failed["expected"]
    assert any(level["standing"] == "broken" for level in document["levels"])


def test_build_servers_can_read_it(broken: Report) -> None:
    root = Xml.fromstring(report_junit.junit(broken))  # noqa: S314 - our own

    assert root.get("failures") == str(len(broken.failed))
    assert len(root.findall("testsuite/testcase")) == len(broken.results)
    assert root.find("testsuite/properties/property[@name='seed']").get("value") == "5"  # type: ignore[union-attr]


def test_characters_that_xml_lacks_are_replaced() -> None:
    class SaysNul(MemoryStore):
        async def next_due(self, **_: object) -> None:
            raise LookupError("bad \0 byte \ud800")

    report = conduct(memory_factory(SaysNul), chosen(["claim_order.nothing_is_due_next_where_nothing_waits"]), seed=1)

    assert Xml.fromstring(report_junit.junit(report)).get("errors") == "1"  # noqa: S314 - our own


def test_a_soak_goes_on_round_after_round_with_the_next_seed() -> None:
    checks = chosen(["leases.a_cursor_moves_forward_only"])

    report = conduct(memory_factory(), checks, seed=9, soak=timedelta(seconds=0.5))

    assert report.rounds > 1
    assert [result.seed for result in report.results[:2]] == [9, 10]
