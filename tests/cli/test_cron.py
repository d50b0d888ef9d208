import json
from itertools import pairwise

import pytest

from tests.support.shell import Shell


def test_an_expression_is_explained_in_words_with_its_next_fires_and_what_clock_changes_do(shell: Shell) -> None:
    result = shell.run(
        *("cron", "explain", "30 2 * * *", "--zone", "America/New_York"),
        *("--after", "2024-03-09T12:00:00Z", "--count", "2"),
    )

    assert result.exit_code == 0
    assert result.stdout.splitlines()[:2] == [
        "expression  30 2 * * *",
        "means       every day at 02:30, America/New_York",
    ]
    assert "2024-03-10T07:00:00Z  2024-03-10 03:00:00-04:00  2024-03-10 02:30 does not exist" in result.stdout


def test_an_expression_for_programs(shell: Shell) -> None:
    explained = shell.json(
        *("cron", "explain", "*/30 * * * *", "--zone", "America/New_York"),
        *("--after", "2024-03-10T06:30:00Z", "--count", "2"),
    )

    assert explained["next"] == ["2024-03-10T07:00:00Z", "2024-03-10T07:30:00Z"]
    assert [fire["local"] for fire in explained["fires"]] == ["2024-03-10T03:00:00-04:00", "2024-03-10T03:30:00-04:00"]
    assert [explained[name] for name in ("expression", "zone")] == ["*/30 * * * *", "America/New_York"]


def test_six_fields_are_read_where_they_are_asked_for(shell: Shell) -> None:
    explained = shell.json("cron", "explain", "*/20 * * * * *", "--seconds", "--after", "2024-03-10T06:30:00Z")

    assert explained["next"][:2] == ["2024-03-10T06:30:20Z", "2024-03-10T06:30:40Z"]


def test_without_an_instant_it_begins_now(shell: Shell) -> None:
    shown = json.loads(shell.run("cron", "explain", "* * * * *", "--json").stdout)["next"]

    assert len(shown) == 5
    assert all(before < after for before, after in pairwise(shown))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("61 * * * *",), "minute"),
        (("-1 * * * *",), "minute, position 1: '-1' does not belong here"),
        (("--zone", "UTC", "-5 * * * *"), "minute, position 1"),
        (("0 0 30 2 *",), "never fires"),
        (("@reboot",), "knows no boot"),
        (("* * * * *", "--zone", "Mars/Base"), "Mars/Base"),
        (("* * * * *", "--after", "yesterday"), "no instant"),
        (("* * * * *", "--count", "-1"), "--count"),
        (("* * * * *", "--count", "0"), "--count"),
        ((), "EXPRESSION"),
    ],
)
def test_what_is_refused_ends_with_2_and_says_why(shell: Shell, arguments: tuple[str, ...], message: str) -> None:
    for more in ((), ("--json",)):
        result = shell.run("cron", "explain", *arguments, *more)

        assert (result.exit_code, result.stdout) == (2, "")
        assert message in result.stderr
