from datetime import timedelta

import pytest

from klokka.core.records import JobError
from klokka.core.states import DeadLettered, Running
from klokka.spi.jobs import JobVerbs
from tests.support.shell import WORKER, Shell, job


async def _claim_and_bury(store: JobVerbs) -> None:
    [claimed] = await store.claim(
        queues=["default"], kinds=["email.welcome"], limit=1, lease=timedelta(minutes=1), worker=WORKER
    )
    error = JobError(type="SmtpError", message="no [red]route\x1b[2J", traceback='File "a.py"\n  send()\n')
    await store.transition(claimed.id, from_=Running(), to=DeadLettered(), fence=claimed.fence, error=error)


def test_a_list_for_people_is_aligned_text_without_boxes(shell: Shell) -> None:
    first, second = shell.enqueue(job(), job("thumbnail", queue="cpu", run_at=timedelta(hours=1, seconds=30)))

    result = shell.run("jobs", "list")

    assert result.stdout.splitlines() == [
        "ID  STATUS     KIND           QUEUE    ATTEMPT  ENQUEUED  NEXT OR ENDED",
        f" {second}  scheduled  thumbnail      cpu            0  now       in 1 h",
        f" {first}  enqueued   email.welcome  default        0  now       -",
    ]
    assert result.stderr == ""


def test_an_empty_list_says_so_on_stderr_alone(shell: Shell) -> None:
    result = shell.run("jobs", "list")

    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "No jobs fit.\n")


def test_a_list_for_programs_has_ids_as_text_and_instants_in_utc(shell: Shell) -> None:
    [number] = shell.enqueue(job(queue="email"))

    [found] = shell.json("jobs", "list")

    assert found["id"] == number
    assert found["enqueued_at"].endswith("Z")
    assert len(found["enqueued_at"]) == len("2024-03-10T07:00:00.000000Z")
    assert found["status"] == "enqueued"
    assert found["retry_at"] is None


def test_an_empty_list_for_programs_is_an_empty_array(shell: Shell) -> None:
    assert shell.json("jobs", "list") == []


@pytest.mark.parametrize(
    "filters",
    [
        ("--kind", "b"),
        ("--queue", "q"),
        ("--key", "k"),
        ("--schedule", "s"),
        ("--status", "scheduled"),
        ("--kind", "b", "--queue", "q"),
    ],
)
def test_filters_choose(shell: Shell, filters: tuple[str, ...]) -> None:
    _, wanted = shell.enqueue(job("a"), job("b", queue="q", unique_key="k", schedule_id="s", run_at=timedelta(hours=1)))

    assert [found["id"] for found in shell.json("jobs", "list", *filters)] == [wanted]


def test_pages_go_on_before_the_last_id_and_say_how(shell: Shell) -> None:
    ids = shell.enqueue(*(job() for _ in range(5)))

    first = shell.run("jobs", "list", "--limit", "2")
    rest = shell.json("jobs", "list", "--before", ids[3])

    assert first.stderr == f"There may be more: --before {ids[3]}\n"
    assert [found["id"] for found in rest] == [ids[2], ids[1], ids[0]]


def test_show_tells_all_of_a_job_with_its_error_and_exact_payload(shell: Shell) -> None:
    payload = '{"user_id": 7,\n "name": "Zoë [bold]"}'
    [number] = shell.enqueue(job(payload=payload, unique_key="welcome:7", headers={"trace": "a\x1bb"}))
    shell.on_store(_claim_and_bury)

    text = shell.run("jobs", "show", number).stdout
    document = shell.json("jobs", "show", number)

    assert "status           dead_lettered\n" in text
    assert "header trace     a\\x1bb\n" in text
    assert 'payload\n  {"user_id": 7,\n   "name": "Zoë [bold]"}\n' in text
    assert "  SmtpError: no [red]route\\x1b[2J\n  in attempt 1, " in text
    assert '\n  File "a.py"\n    send()\n' in text
    assert document["payload"] == payload
    assert document["fence"] == "1"
    assert document["headers"] == {"trace": "a\x1bb"}
    assert document["last_error"]["message"] == "no [red]route\x1b[2J"


def test_no_text_of_a_job_reaches_the_terminal_as_a_command(shell: Shell) -> None:
    hostile = "\x1b]0;owned\x07\r\x9b2J"
    [number] = shell.enqueue(job(payload=f'"{hostile}"', unique_key=hostile, headers={hostile: hostile}))

    output = shell.run("jobs", "show", number).stdout

    assert all(character.isprintable() or character == "\n" for character in output)


def test_an_unknown_job_is_a_no(shell: Shell) -> None:
    result = shell.run("jobs", "show", "99", "--json")

    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == "Error: job 99 is unknown: it never was, was deleted, or was swept after its retention.\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("show", "abc"), "'abc' is no id of a job. An id is a number from 1 to 9223372036854775807."),
        (("show", str(2**70)), f"'{2**70}' is no id of a job."),
        (("show", "0"), "'0' is no id of a job."),
        (("show", "--", "-1"), "'-1' is no id of a job."),
        (("show", "\x1b[2J"), "'\\x1b[2J' is no id of a job."),
        (("show", "-1"), "No such option"),
        (("list", "--before", "x"), "'x' is no id of a job."),
        (("list", "--status", "lost"), "'lost' is not one of 'scheduled', 'enqueued', 'running'"),
        (("list", "--limit", "-1"), "-1 is not in the range"),
        (("list", "--limit", "many"), "'many' is not a valid integer"),
        (("list", "--kind", "Not A Kind"), "kind 'Not A Kind' has 'N' at position 1"),
        (("list", "--queue", ""), "queue is empty"),
        (("list", "--key", "k" * 513), "key has 513 bytes; the limit is 512"),
    ],
)
def test_bad_input_gets_one_clear_error(shell: Shell, arguments: tuple[str, ...], message: str) -> None:
    result = shell.run("jobs", *arguments)

    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
    assert "Traceback" not in result.stderr
