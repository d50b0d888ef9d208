"""Which checks are meant by a name."""

import pytest

from klokka.errors import InvalidInput
from klokka.tck.checks import every_check
from klokka.tck.choice import chosen


def test_no_name_means_all() -> None:
    assert chosen() == every_check()


@pytest.mark.parametrize("name", ["claim.due", "[claim.due]"])
def test_a_clause_means_the_checks_that_cite_it(name: str) -> None:
    assert chosen([name]) == [check for check in every_check() if "claim.due" in check.clauses]


def test_a_word_a_level_a_group_and_a_check_are_names_too() -> None:
    assert all(any(clause.startswith("key.") for clause in check.clauses) for check in chosen(["key"]))
    assert {check.group for check in chosen(["claim_order"])} == {"claim_order"}
    assert len(chosen(["core"])) > len(chosen(["claim"])) > 0
    assert [check.id for check in chosen(["keys.a_key_is_claimed_once"])] == ["keys.a_key_is_claimed_once"]


def test_several_names_are_joined_and_keep_the_order_of_all() -> None:
    both = chosen(["lease", "claim.due", "lease.cursor"])

    assert both == [check for check in every_check() if check in both]
    assert len(both) == len({check.id for check in both})


def test_an_unknown_name_is_refused_with_the_nearest() -> None:
    with pytest.raises(InvalidInput, match=r"no check is of 'claim\.duo'\. Did you mean claim\.due"):
        chosen(["claim.duo"])
