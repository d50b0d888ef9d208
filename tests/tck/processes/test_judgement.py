"""What is true of processes that were killed and stopped, and what no right store can have told them."""

import math
from datetime import timedelta
from typing import Any

import pytest

from klokka.tck.processes.deeds import Deed
from klokka.tck.processes.judgement import judge_batches, judge_claims, judge_settlements, judge_waits
from klokka.tck.violations import Violation

LEASE = timedelta(seconds=1)


def deed(verb: str, about: Any, answer: Any, begun: float, ended: float, actor: str = "a") -> Deed:
    return Deed(actor=actor, verb=verb, about=about, answer=answer, begun=begun, ended=ended)


def claim(fence: int, begun: float, ended: float, actor: str = "a") -> Deed:
    return deed("claim", [], [[1, fence, fence]], begun, ended, actor)


def test_a_claim_after_the_end_of_the_lease_is_right() -> None:
    judge_claims([claim(1, 0, 0.1), claim(2, 1.05, 1.1, "b")], LEASE)


def test_a_claim_under_another_lease_is_none() -> None:
    with pytest.raises(Violation) as caught:
        judge_claims([claim(1, 0, 0.1), claim(2, 0.3, 0.4, "b")], LEASE)

    assert caught.value.clauses == ("claim.exclusive",)


def test_a_settled_claim_makes_room_for_the_next() -> None:
    judge_claims([claim(1, 0, 0.1), deed("settle", [1, 1, "Failed"], True, 0.2, 0.3), claim(2, 0.3, 0.4, "b")], LEASE)


def test_a_renewed_lease_lasts_longer() -> None:
    beat = deed("heartbeat", [1, 1], True, 0.9, 0.95)

    with pytest.raises(Violation):
        judge_claims([claim(1, 0, 0.1), beat, claim(2, 1.2, 1.3, "b")], LEASE)


def test_two_claims_never_have_one_fence() -> None:
    with pytest.raises(Violation) as caught:
        judge_claims([claim(1, 0, 0.1), claim(1, 5, 5.1, "b")], LEASE)

    assert caught.value.clauses == ("claim.fence",)


def test_whoever_was_taken_over_settles_nothing() -> None:
    late = deed("settle", [1, 1, "Succeeded"], True, 3, 3.1)

    with pytest.raises(Violation) as caught:
        judge_settlements([claim(1, 0, 0.1), claim(2, 2, 2.1, "b"), late], {})

    assert caught.value.clauses == ("transition.fence",)


def test_an_acknowledged_batch_is_there_and_an_unknown_one_may_be_missing() -> None:
    judge_batches([deed("enqueue", ["x", "y", "z"], None, 0, math.inf)], {})

    with pytest.raises(Violation) as caught:
        judge_batches([deed("enqueue", ["x", "y", "z"], [1, 2, 3], 0, 1)], {})

    assert caught.value.clauses == ("life.durable",)


def test_only_ones_own_standstill_excuses_a_long_wait() -> None:
    slow = deed("claim", [], [], 0, 20)

    judge_waits([slow], {"a": [(1, 19)]}, timedelta(seconds=5))
    with pytest.raises(Violation) as caught:
        judge_waits([slow], {"b": [(1, 19)]}, timedelta(seconds=5))

    assert caught.value.clauses == ("claim.wait-free",)
