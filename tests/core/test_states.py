"""The one table of moves, walked in full."""

import itertools

from klokka.core.states import LEGAL, LIVE, TERMINAL, WAITING, JobStatus, Move


def test_terminal_states_are_left_by_requeue_alone() -> None:
    leaving = {(status, move) for (status, move) in LEGAL if status in TERMINAL}

    assert leaving == {(status, Move.REQUEUED) for status in TERMINAL}


def test_whatever_waits_can_be_claimed_and_cancelled() -> None:
    for status in WAITING:
        assert LEGAL[status, Move.CLAIMED] is JobStatus.RUNNING
        assert LEGAL[status, Move.CANCELLED] is JobStatus.CANCELLED


def test_only_a_claim_leads_to_running() -> None:
    assert {move for (_, move), to in LEGAL.items() if to is JobStatus.RUNNING} == {Move.CLAIMED}


def test_every_state_can_be_reached_and_every_move_is_used() -> None:
    assert set(LEGAL.values()) | {JobStatus.SCHEDULED} == set(JobStatus)
    assert {move for _, move in LEGAL} == set(Move)


def test_a_pair_that_is_not_in_the_table_is_illegal() -> None:
    pairs = set(itertools.product(JobStatus, Move))

    assert len(pairs - set(LEGAL)) == len(pairs) - len(LEGAL)
    assert (JobStatus.SUCCEEDED, Move.CANCELLED) not in LEGAL
    assert set(JobStatus) == LIVE | TERMINAL
