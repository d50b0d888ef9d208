"""Where claims begin, drawn from what the ones before them gave. A clock that the test moves, and no database."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import cast

from klokka.core.ids import JobId
from klokka.core.records import ClaimedJob
from klokka.stores.postgres.floors import Floor, Floors, Look, places

NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)
EDGE = NOW - timedelta(milliseconds=250)
MINUTE = timedelta(minutes=1)
MOMENT = timedelta(milliseconds=1)
ENDED = None
"""What is told of a job whose lease had ended: no due time."""


class Job:
    """As much of a claimed job as is looked at."""

    def __init__(self, id: int, queue: str) -> None:
        self.id = JobId(id)
        self.queue = queue


class Desk:
    """Floors, and claims that are answered by the test."""

    def __init__(self) -> None:
        self.time = 100.0
        self.floors = Floors(clock=lambda: self.time)

    def claim(
        self,
        *given: tuple[str, int, datetime | None],
        queues: Sequence[str] = ("a",),
        limit: int = 2,
        slow: bool = True,
        took: timedelta = MOMENT,
    ) -> Look:
        """Where a claim begins that gives these jobs, each by its queue, id and due time."""
        look = self.floors.look(queues=queues, kinds=("k",), rooms=[limit] * len(queues), limit=limit)
        jobs = cast("list[ClaimedJob]", [Job(job, queue) for queue, job, _ in given])
        self.floors.learn(look, jobs, [NOW, NOW + took, *(at for _, _, at in given)] if slow else None)
        return look

    def next(self, *queues: str) -> list[Floor | None]:
        """Where the next claim would begin."""
        return list(self.floors.look(queues=queues, kinds=("k",), rooms=[2] * len(queues), limit=2).floors)


def test_every_claim_looks_at_all_where_little_is_read_in_vain() -> None:
    desk = Desk()

    desk.claim(("a", 1, NOW - MINUTE), ("a", 2, NOW - MINUTE), slow=False)

    assert desk.next("a") == [None]


def test_a_claim_begins_behind_the_last_job_of_one_that_the_queue_filled() -> None:
    desk = Desk()

    desk.claim(("a", 1, NOW - 2 * MINUTE), ("a", 2, NOW - MINUTE))

    assert desk.next("a") == [Floor(NOW - MINUTE, 2, EDGE)]


def test_a_claim_begins_a_little_before_one_that_took_all_there_was() -> None:
    desk = Desk()

    desk.claim(("a", 1, NOW - MINUTE))

    assert desk.next("a") == [Floor(EDGE, 0, EDGE)]


def test_what_is_due_only_just_is_read_again_since_others_may_come_before_it() -> None:
    desk = Desk()

    desk.claim(("a", 1, NOW - MINUTE), ("a", 2, NOW))

    assert desk.next("a") == [Floor(EDGE, 0, EDGE)]


def test_nothing_is_drawn_from_ended_leases_that_filled_a_claim() -> None:
    desk = Desk()

    desk.claim(("a", 1, ENDED), ("a", 2, ENDED))

    assert desk.next("a") == [None]


def test_ended_leases_that_fill_a_later_claim_leave_the_floor_where_it_was() -> None:
    desk = Desk()
    desk.claim(("a", 1, NOW - 2 * MINUTE), ("a", 2, NOW - MINUTE))

    desk.claim(("a", 3, ENDED), ("a", 4, ENDED))

    assert desk.next("a") == [Floor(NOW - MINUTE, 2, EDGE)]


def test_each_queue_has_its_own_floor_and_one_that_was_not_reached_has_none() -> None:
    desk = Desk()

    desk.claim(("a", 7, NOW - 5 * MINUTE), ("b", 3, NOW - MINUTE), queues=("a", "b", "c"))

    assert desk.next("a", "b", "c") == [Floor(EDGE, 0, EDGE), Floor(NOW - MINUTE, 3, EDGE), None]


def test_other_kinds_have_floors_of_their_own() -> None:
    desk = Desk()
    desk.claim()

    other = desk.floors.look(queues=["a"], kinds=["k", "l"], rooms=[2], limit=2)

    assert other.at_all


def test_a_claim_looks_at_all_again_after_a_second() -> None:
    desk = Desk()
    desk.claim()

    desk.time += 0.9
    assert not desk.claim().at_all
    desk.time += 0.1
    assert desk.claim().at_all
    assert not desk.claim().at_all


def test_looks_at_all_that_take_long_come_less_often() -> None:
    desk = Desk()
    desk.claim(took=timedelta(seconds=2))

    desk.time += 19.9
    assert not desk.claim().at_all
    desk.time += 0.2
    assert desk.claim().at_all


def test_where_one_queue_is_due_for_a_look_at_all_each_is_and_the_unreached_is_forgotten() -> None:
    desk = Desk()
    desk.claim(queues=("b",))
    desk.time += 0.5
    desk.claim(("a", 1, NOW - MINUTE), ("a", 2, NOW - MINUTE), queues=("a", "b"))
    desk.time += 0.5

    assert desk.claim(("a", 3, NOW - MINUTE), ("a", 4, NOW - MINUTE), queues=("a", "b")).at_all

    assert desk.next("a", "b") == [Floor(NOW - MINUTE, 4, EDGE), None]


def test_a_look_at_all_that_read_little_in_vain_ends_it() -> None:
    desk = Desk()
    desk.claim()
    desk.time += 1

    desk.claim(slow=False)

    assert desk.next("a") == [None]


def test_a_claim_at_a_floor_tells_how_far_it_came_however_little_it_read() -> None:
    desk = Desk()

    assert desk.claim(limit=100).enough == 1_100
    assert desk.claim(limit=100).enough == -1


def test_whoever_rests_after_a_look_at_all_asks_for_all_and_after_another_claim_from_where_that_began() -> None:
    desk = Desk()
    desk.claim()
    assert desk.floors.last(queues=["a"], kinds=["k"]) == ([None], None)

    desk.claim()
    desk.time += 0.25

    assert desk.floors.last(queues=["a"], kinds=["k"]) == ([Floor(EDGE, 0, EDGE)], timedelta(seconds=0.75))
    desk.time += 5
    assert desk.floors.last(queues=["a"], kinds=["k"]) == ([Floor(EDGE, 0, EDGE)], timedelta(0))


def test_no_floor_is_the_lowest_place() -> None:
    assert places([None, Floor(NOW, 7, EDGE)]) == (
        '{"-infinity","2026-05-04T12:00:00+00:00"}',
        "{0,7}",
        '{"-infinity","2026-05-04T11:59:59.750000+00:00"}',
    )
