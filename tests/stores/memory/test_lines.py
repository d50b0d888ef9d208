"""Agendas: jobs by time, though notes of old times stay in them."""

from datetime import timedelta

from klokka.core.clocks import ManualClock
from klokka.core.ids import JobId
from klokka.core.records import NewJob
from klokka.core.states import JobStatus
from klokka.stores.memory.lines import Agenda
from klokka.stores.memory.rows import JobRow

NOW = ManualClock()()
MINUTE = timedelta(minutes=1)


def row(number: int, minutes: int) -> JobRow:
    return JobRow.born(JobId(number), NewJob(kind="a.b", payload=""), NOW + minutes * MINUTE, NOW)


def agenda_of(*rows: JobRow) -> Agenda:
    agenda = Agenda({row.id: row for row in rows}, JobRow.due)
    for one in rows:
        agenda.add(one)
    return agenda


def test_the_head_is_the_earliest_and_then_the_smallest_id() -> None:
    agenda = agenda_of(row(3, 1), row(1, 2), row(2, 1))

    assert agenda.head() == (NOW + MINUTE, 2)


def test_a_note_of_a_time_that_a_job_no_longer_has_is_passed_over() -> None:
    moved, other = row(1, 1), row(2, 2)
    agenda = agenda_of(moved, other)
    moved.run_at = NOW + 3 * MINUTE
    agenda.add(moved)

    assert agenda.head() == (NOW + 2 * MINUTE, 2)


def test_a_job_that_waits_no_longer_is_passed_over() -> None:
    ended = row(1, 1)
    agenda = agenda_of(ended)
    ended.status = JobStatus.SUCCEEDED

    assert agenda.head() is None


def test_those_whose_time_has_come_are_given_as_they_are_taken() -> None:
    rows = [row(1, 1), row(2, 2), row(3, 3)]
    agenda = agenda_of(*rows)
    taken = []

    for _, job in agenda.until(NOW + 2 * MINUTE):
        rows[job - 1].status = JobStatus.RUNNING
        taken.append(job)

    assert taken == [1, 2]
    assert agenda.head() == (NOW + 3 * MINUTE, 3)
