"""Where claims begin, drawn from what the ones before them gave. A clock that the test moves, and no database."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import cast

from klokka.core.ids import JobId
from klokka.core.records import ClaimedJob
from klokka.stores.postgres.floors import Floor, Floors, Found, Look, places

NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)
EDGE = NOW - timedelta(milliseconds=250)
MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
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
        cleared: bool = False,
    ) -> Look:
        """Where a claim begins that gives these jobs, each by its queue, id and due time."""
        look = self.floors.look(queues=queues, kinds=("k",), rooms=[limit] * len(queues), limit=limit)
        jobs = cast("list[ClaimedJob]", [Job(job, queue) for queue, job, _ in given])
        told = [NOW, NOW + took, *(at for _, _, at in given)] if slow else None
        self.floors.learn(look, jobs, told, cleared=cleared)
        return look

    def look_back(
        self, *found: Found, queues: Sequence[str] = ("a",), took: timedelta = MOMENT, read: int = 1_001
    ) -> None:
        """A look back that finds this."""
        self.floors.looked_back(queues, ["k"], took, read=read, found=found)

    def next(self, *queues: str) -> list[Floor | None]:
        """Where the next claim would begin."""
        return list(self.floors.look(queues=queues, kinds=("k",), rooms=[2] * len(queues), limit=2).floors)


def test_every_claim_begins_at_the_head_where_little_is_read_in_vain() -> None:
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

    assert other.from_the_head


def test_it_is_time_to_look_back_after_a_second_and_then_not_until_that_is_done() -> None:
    desk = Desk()
    desk.claim()

    desk.time += 0.9
    assert not desk.floors.due(["a"], ["k"])
    desk.time += 0.1
    assert desk.floors.due(["a"], ["k"])
    desk.time += 100
    assert not desk.floors.due(["a"], ["k"])


def test_what_takes_long_comes_less_often() -> None:
    desk = Desk()
    desk.claim(took=timedelta(seconds=2))

    desk.time += 19.9
    assert not desk.floors.due(["a"], ["k"])
    desk.time += 0.1
    assert desk.floors.due(["a"], ["k"])
    desk.look_back(took=timedelta(seconds=3))
    desk.time += 29.9
    assert not desk.floors.due(["a"], ["k"])
    desk.time += 0.1
    assert desk.floors.due(["a"], ["k"])


def test_a_floor_is_lowered_to_what_was_found_behind_it() -> None:
    desk = Desk()
    desk.claim(queues=("a", "b", "c"))

    desk.look_back(
        (1, NOW - MINUTE, 7, None), (1, NOW - 2 * MINUTE, 8, None), (2, None, 0, NOW - HOUR), queues=("a", "b", "c")
    )

    assert desk.next("a", "b", "c") == [
        Floor(NOW - 2 * MINUTE, 7, EDGE),
        Floor(EDGE, 0, NOW - HOUR),
        Floor(EDGE, 0, EDGE),
    ]


def test_a_claim_that_began_higher_up_does_not_raise_a_floor_that_was_lowered_meanwhile() -> None:
    desk = Desk()
    desk.claim()
    look = desk.floors.look(queues=["a"], kinds=["k"], rooms=[2], limit=2)

    desk.look_back((1, NOW - HOUR, 7, None))
    desk.floors.learn(look, [], [NOW + MINUTE, NOW + MINUTE])

    assert desk.next("a") == [Floor(NOW - HOUR, 6, EDGE)]


def test_a_look_back_that_read_little_ends_it() -> None:
    desk = Desk()
    desk.claim()
    look = desk.floors.look(queues=["a"], kinds=["k"], rooms=[2], limit=2)

    desk.look_back(read=1_000)
    desk.floors.learn(look, [], [NOW, NOW])

    assert desk.next("a") == [None]


def test_a_claim_at_a_floor_tells_how_far_it_came_however_little_it_read() -> None:
    desk = Desk()

    assert desk.claim(limit=100).enough == 1_100
    assert desk.claim(limit=100).enough == -1


def test_whoever_rests_is_back_when_it_is_time_to_look_back_and_a_second_later_while_that_is_done() -> None:
    desk = Desk()
    assert desk.floors.rest(["a"], ["k"]) == ([None], None)
    desk.claim()

    desk.time += 0.25
    assert desk.floors.rest(["a"], ["k"]) == ([Floor(EDGE, 0, EDGE)], timedelta(seconds=0.75))
    desk.time += 5
    assert desk.floors.rest(["a"], ["k"])[1] == timedelta(0)

    assert desk.floors.due(["a"], ["k"])
    assert desk.floors.rest(["a"], ["k"])[1] == timedelta(seconds=1)


def test_whoever_has_just_looked_back_in_vain_rests_as_long_as_ever_and_asks_from_the_head() -> None:
    desk = Desk()
    desk.claim()

    desk.claim(cleared=True)
    assert desk.floors.rest(["a"], ["k"]) == ([None], None)

    desk.claim()
    assert desk.floors.rest(["a"], ["k"])[1] == timedelta(seconds=1)


def test_no_floor_is_the_lowest_place() -> None:
    assert places([None, Floor(NOW, 7, EDGE)]) == (
        '{"-infinity","2026-05-04T12:00:00+00:00"}',
        "{0,7}",
        '{"-infinity","2026-05-04T11:59:59.750000+00:00"}',
    )
