import pytest

from tests.support.shell import Shell, job


def test_queues_are_listed_with_their_depths_and_pauses(shell: Shell) -> None:
    shell.enqueue(job(), job(queue="email"))
    shell.run("queues", "pause", "email", "--reason", "smtp\nis down")

    result = shell.run("queues", "list")

    assert result.stdout.splitlines() == [
        "QUEUE    DUE  WAITING  RUNNING  OLDEST DUE  PAUSED",
        "default    1        0        0  now         -",
        "email      1        0        0  now         smtp\\nis down",
    ]


def test_queues_for_programs(shell: Shell) -> None:
    shell.enqueue(job())

    [depth] = shell.json("queues", "list")

    assert depth.pop("oldest_due").endswith("Z")
    assert depth == {"queue": "default", "due": 1, "waiting": 0, "running": 0, "paused": None}


def test_a_pause_ends_with_resume(shell: Shell) -> None:
    paused = shell.run("queues", "pause", "email", "--reason", "migration")
    resumed = shell.run("queues", "resume", "email")

    assert (paused.exit_code, paused.stdout) == (0, "Queue email is paused.\n")
    assert (resumed.exit_code, resumed.stdout) == (0, "Queue email is resumed.\n")
    assert shell.json("queues", "list") == []


def test_resuming_what_is_not_paused_is_a_no(shell: Shell) -> None:
    result = shell.run("queues", "resume", "email")

    assert (result.exit_code, result.stderr) == (1, "Error: queue email is not paused.\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("pause", "email"), "Missing option '--reason'"),
        (("pause", "Email", "--reason", "x"), "for example 'email'"),
        (("resume", ""), "queue is empty"),
        (("pause",), "Missing argument 'NAME'"),
    ],
)
def test_bad_input_gets_one_clear_error(shell: Shell, arguments: tuple[str, ...], message: str) -> None:
    result = shell.run("queues", *arguments)

    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
