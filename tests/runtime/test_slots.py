"""Places, caps and lines; and how far ahead they may be filled."""

from datetime import timedelta
from typing import Any

from klokka.core.queues import Queue
from klokka.runtime.held import Held
from klokka.runtime.pace import MOST, Pace
from klokka.runtime.slots import Slots
from tests.runtime.test_verdict import a_handler

LEASE = timedelta(seconds=30)


class _InQueue:
    def __init__(self, queue: str) -> None:
        self.queue = queue


def a_held(queue: str, *, claimed: float = 0.0) -> Held:
    job: Any = _InQueue(queue)
    return Held(job, a_handler(), claimed=claimed, deadline=30.0)


def taken(slots: Slots) -> list[str]:
    queues: list[str] = []
    while (held := slots.take()) is not None:
        queues.append(held.job.queue)
    return queues


def test_places_go_to_the_earlier_queue_first_and_within_caps() -> None:
    slots = Slots([Queue("a"), Queue("b", concurrency=1), Queue("c")], 4)
    for queue in ("c", "b", "b", "a", "c", "c"):
        slots.put(a_held(queue))

    assert taken(slots) == ["a", "b", "c", "c"]
    slots.release("c")
    assert taken(slots) == ["c"]


def test_room_counts_what_runs_and_what_waits() -> None:
    slots = Slots([Queue("a"), Queue("b", concurrency=2)], 10)
    slots.put(a_held("b"))
    slots.put(a_held("b"))
    slots.take()

    room = slots.room(0)

    assert (room.limit, dict(room.caps)) == (8, {"b": 0})
    assert (slots.room(100).limit, dict(slots.room(100).caps)) == (108, {"b": 20})


def test_whoever_waits_for_room_is_called_when_few_enough_are_held() -> None:
    slots = Slots([Queue("a")], 2)
    called: list[int] = []
    for _ in range(4):
        slots.put(a_held("a"))
    taken(slots)
    slots.call_when_roomy(lambda: called.append(slots.running + slots.waiting), below=3)

    for _ in range(3):
        slots.release("a")
        slots.take()
        slots.freed("a")

    assert called == [2, 1]


def test_what_has_waited_long_can_be_withdrawn() -> None:
    slots = Slots([Queue("a"), Queue("b")], 1)
    for queue, claimed in (("a", 1.0), ("a", 5.0), ("b", 2.0)):
        slots.put(a_held(queue, claimed=claimed))

    old = slots.withdraw(before=3.0)

    assert [held.since for held in old] == [1.0, 2.0]
    assert slots.waiting == 1


def test_nothing_is_claimed_ahead_before_short_runs_were_seen() -> None:
    pace = Pace(10, LEASE)

    assert pace.ahead == 0
    for _ in range(200):
        pace.note(0.0001)
    assert pace.ahead == MOST


def test_the_look_ahead_is_half_a_second_of_work_and_far_below_a_short_lease() -> None:
    long_lease, short_lease = Pace(10, LEASE), Pace(10, timedelta(seconds=1))
    for _ in range(500):
        long_lease.note(0.05)
        short_lease.note(0.05)

    assert 95 <= long_lease.ahead <= 105
    assert 18 <= short_lease.ahead <= 22


def test_long_jobs_are_not_claimed_ahead() -> None:
    pace = Pace(10, LEASE)
    for _ in range(10):
        pace.note(0.01)
    for _ in range(10):
        pace.note(5.0)

    assert pace.ahead == 0


def test_what_did_not_start_in_time_ends_the_look_ahead() -> None:
    pace = Pace(10, LEASE)
    for _ in range(100):
        pace.note(0.001)

    pace.slow_down()

    assert pace.ahead == 0
