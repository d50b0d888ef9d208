from datetime import timedelta

import pytest

from klokka.core.ids import JobId
from klokka.core.records import ClaimedJob
from klokka.core.states import Cancelled, DeadLettered, Enqueued, JobStatus, Succeeded
from klokka.stores.sqlite.store import SqliteStore
from tests.support.shell import WORKER, Shell, job


def _bury(shell: Shell, *ids: str) -> None:
    async def bury(store: SqliteStore) -> None:
        for number in ids:
            await store.transition(JobId(int(number)), from_=Enqueued(), to=DeadLettered())

    shell.on_store(bury)


def _succeed(shell: Shell, number: str) -> None:
    shell.on_store(lambda store: store.transition(JobId(int(number)), from_=Enqueued(), to=Succeeded()))


def _status(shell: Shell, number: str) -> JobStatus:
    return shell.get(number).summary.status


def test_requeue_makes_an_ended_job_due_again(shell: Shell) -> None:
    [number] = shell.enqueue(job())
    _bury(shell, number)

    result = shell.run("jobs", "requeue", number)

    assert (result.exit_code, result.stdout, result.stderr) == (0, "Requeued 1 of 1 jobs.\n", "")
    assert _status(shell, number) is JobStatus.ENQUEUED


def test_cancel_calls_a_waiting_job_off(shell: Shell) -> None:
    [number] = shell.enqueue(job(run_at=timedelta(hours=1)))

    result = shell.run("jobs", "cancel", number)

    assert (result.exit_code, result.stdout) == (0, "Cancelled 1 of 1 jobs.\n")
    assert _status(shell, number) is JobStatus.CANCELLED


def test_cancel_takes_a_running_job_from_its_worker(shell: Shell) -> None:
    [number] = shell.enqueue(job())

    async def claim(store: SqliteStore) -> ClaimedJob:
        minute = timedelta(minutes=1)
        return (await store.claim(queues=["default"], kinds=["email.welcome"], limit=1, lease=minute, worker=WORKER))[0]

    claimed = shell.on_store(claim)

    shell.run("jobs", "cancel", number)

    held = {claimed.id: claimed.fence}
    assert shell.on_store(lambda store: store.heartbeat(held, worker=WORKER, extend=timedelta(minutes=1))) == set()


def test_delete_removes_a_job(shell: Shell) -> None:
    [number] = shell.enqueue(job())

    result = shell.run("jobs", "delete", number)

    assert (result.exit_code, result.stdout) == (0, "Deleted 1 of 1 jobs.\n")
    assert shell.json("jobs", "list") == []


def test_one_named_job_that_stays_as_it_is_makes_the_answer_no(shell: Shell) -> None:
    waiting, ended = shell.enqueue(job(), job())
    _bury(shell, ended)

    result = shell.run("jobs", "requeue", waiting, ended, "99", ended)

    assert (result.exit_code, result.stdout) == (1, "Requeued 1 of 3 jobs.\n")
    assert result.stderr.splitlines() == [
        f"Job {waiting} was not requeued: is enqueued.",
        "Job 99 was not requeued: unknown.",
    ]


def test_a_key_that_a_live_job_holds_is_told_with_its_holder(shell: Shell) -> None:
    [ended] = shell.enqueue(job(unique_key="k"))
    _bury(shell, ended)
    [holder] = shell.enqueue(job(unique_key="k"))

    result = shell.run("jobs", "requeue", ended, "--json")

    assert result.exit_code == 1
    assert f'"reason": "its unique key is held by job {holder}"' in result.stdout
    assert f'"id": "{ended}"' in result.stdout


def test_all_that_fit_are_acted_on_after_a_yes(shell: Shell) -> None:
    one, two, other = shell.enqueue(job(), job(), job("thumbnail"))
    _bury(shell, one, two, other)

    result = shell.run("jobs", "requeue", "--all", "--status", "dead_lettered", "--kind", "email.welcome", input="y\n")

    assert (result.exit_code, result.stdout) == (0, "Requeued 2 of 2 jobs.\n")
    assert "Requeue 2 jobs (--status dead_lettered --kind email.welcome)? [y/N]" in result.stderr
    assert _status(shell, other) is JobStatus.DEAD_LETTERED


def test_without_a_yes_nothing_is_done(shell: Shell) -> None:
    [number] = shell.enqueue(job())

    result = shell.run("jobs", "delete", "--all", input="n\n")

    assert result.exit_code == 1
    assert "Delete 1 jobs (the whole store)?" in result.stderr
    assert result.stderr.endswith("Error: nothing was deleted.\n")
    assert _status(shell, number) is JobStatus.ENQUEUED


def test_where_nobody_can_be_asked_yes_must_be_given(shell: Shell) -> None:
    shell.enqueue(job())

    refused = shell.run("jobs", "cancel", "--all", input="")
    done = shell.run("jobs", "cancel", "--all", "--yes", input="")

    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "\nError: nobody can be asked here. Add --yes to act without asking." in refused.stderr
    assert (done.exit_code, done.stdout) == (0, "Cancelled 1 of 1 jobs.\n")


def test_cancelling_all_leaves_ended_jobs_out_of_the_count(shell: Shell) -> None:
    done, _ = shell.enqueue(job(), job())
    _succeed(shell, done)

    assert shell.run("jobs", "cancel", "--all", "--yes").stdout == "Cancelled 1 of 1 jobs.\n"


def test_many_jobs_are_found_over_all_pages(shell: Shell) -> None:
    shell.enqueue(*(job() for _ in range(1001)))

    document = shell.json("jobs", "cancel", "--all", "--yes")

    assert document == {"action": "cancel", "changed": 1001, "unchanged": []}


def test_where_none_fit_the_answer_is_no(shell: Shell) -> None:
    result = shell.run("jobs", "delete", "--all", "--kind", "thumbnail", "--yes")

    assert (result.exit_code, result.stdout) == (1, "Deleted 0 of 0 jobs.\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("requeue",), "no job is named. Give ids, or --all with filters."),
        (("requeue", "1", "--all"), "ids and --all exclude each other."),
        (("cancel", "--kind", "a"), "filters need --all. Write --all --kind a."),
        (("cancel", "1", "--kind", "a"), "filters need --all."),
        (("requeue", "--all"), "requeue --all needs --status"),
        (("requeue", "--all", "--status", "running"), "a job that is running cannot be requeued."),
        (("cancel", "--all", "--status", "succeeded"), "a job that is succeeded cannot be cancelled."),
        (("delete", "x"), "'x' is no id of a job."),
    ],
)
def test_bad_usage_is_refused_before_anything_is_done(shell: Shell, arguments: tuple[str, ...], message: str) -> None:
    [number] = shell.enqueue(job())

    result = shell.run("jobs", *arguments)

    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
    assert _status(shell, number) is JobStatus.ENQUEUED


async def test_a_job_that_left_the_state_that_was_asked_for_is_left_alone(shell: Shell) -> None:
    from klokka.cli.bulk import CANCEL, DELETE, REQUEUE, Tally, act_on

    store = SqliteStore(shell.folder / "jobs.db")
    await store.open()
    ids = [result.id for result in await store.enqueue([job(), job(), job()])]
    await store.transition(ids[2], from_=Enqueued(), to=Cancelled())
    tally = Tally()

    await act_on(store, ids[:1], JobStatus.SCHEDULED, CANCEL, tally)
    await act_on(store, ids[1:2], JobStatus.SUCCEEDED, DELETE, tally)
    await act_on(store, ids[2:], JobStatus.DEAD_LETTERED, REQUEUE, tally)
    await store.close()

    assert tally.changed == 0
    assert tally.unchanged == [(ids[0], "is enqueued"), (ids[1], "is enqueued"), (ids[2], "is cancelled")]
