"""Fences that nobody heard."""

from klokka.tck.history.fences import is_known, unheard


def test_each_unheard_fence_is_a_bound_and_equals_no_known_one() -> None:
    first = unheard(3)
    second = unheard(first)

    assert 3 < first < 4 < second < 5
    assert not is_known(first)
    assert not is_known(second)
    assert is_known(4)
