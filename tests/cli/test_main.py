"""The command as a process: its start, its exit code, its pipes."""

import json
import os
import pty
import signal
import subprocess
import sys

import pytest

from tests.support.shell import Shell, job

KLOKKA = (sys.executable, "-m", "klokka")


def _run(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*KLOKKA, *arguments], capture_output=True, text=True, timeout=30, check=False, **options)  # type: ignore[call-overload,no-any-return]


def test_the_version_is_printed_without_importing_what_commands_need() -> None:
    code = (
        "import sys; sys.argv = ['klokka', '--version']; from klokka.cli.main import main; main(); "
        "print([name for name in ('click', 'rich', 'sqlite3', 'tomllib') if name in sys.modules])"
    )

    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=True)

    version, imported = result.stdout.splitlines()
    assert version.startswith("klokka ")
    assert imported == "[]"


def test_looking_at_jobs_without_a_terminal_does_not_import_the_runtime(shell: Shell) -> None:
    code = (
        "import sys; sys.argv = ['klokka', 'jobs', 'list', '--json']\n"
        "from klokka.cli.main import main\n"
        "try: main()\n"
        "finally: print([name for name in ('rich', 'klokka.runtime') if name in sys.modules], file=sys.stderr)"
    )

    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=True)

    assert result.stderr == "[]\n"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("jobs", "list"), 0),
        (("jobs", "show", "99"), 1),
        (("jobs", "show", "x"), 2),
        (("jobs", "list", "--store", "sqlite:///not/there.db"), 3),
    ],
)
def test_the_process_exits_with_the_code(shell: Shell, arguments: tuple[str, ...], code: int) -> None:
    result = _run(*arguments)

    assert result.returncode == code
    assert "Traceback" not in result.stderr


def test_a_bug_shows_its_traceback(shell: Shell) -> None:
    shell.write("buggy.py", "from klokka.app.klokka import Klokka\napp = Klokka('memory:')\ndel app._connection\n")

    result = _run("jobs", "list", "--app", "buggy:app")

    assert result.returncode not in (0, 2, 3)
    assert "Traceback (most recent call last)" in result.stderr


def test_a_closed_pipe_ends_quietly(shell: Shell) -> None:
    shell.enqueue(*(job() for _ in range(3000)))

    with subprocess.Popen(
        [*KLOKKA, "jobs", "list", "--limit", "3000"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        code = process.wait(timeout=30)
        complaints = process.stderr.read()

    assert code == 0
    assert complaints in ("", "There may be more: --before 1\n")


def test_closed_streams_are_no_error(shell: Shell) -> None:
    shell.enqueue(job())
    command = " ".join([*KLOKKA, "jobs", "list", "--limit", "1"])

    result = subprocess.run(["sh", "-c", f"exec {command} >&- 2>&-"], timeout=30, check=False)

    assert result.returncode == 0


def test_an_encoding_that_lacks_a_character_spells_it(shell: Shell) -> None:
    [number] = shell.enqueue(job(payload='"日本"'))

    result = _run("jobs", "show", number, env={**os.environ, "PYTHONIOENCODING": "latin-1"})

    assert result.returncode == 0
    assert '"\\u65e5\\u672c"' in result.stdout


def test_an_interrupt_ends_with_130_and_without_a_traceback(shell: Shell) -> None:
    shell.write(
        "slow.py",
        """
        import asyncio
        from klokka.app.klokka import Klokka
        from klokka.stores.sqlite.store import SqliteStore

        class Slow(SqliteStore):
            async def list_jobs(self, query):
                print("reached", flush=True)
                await asyncio.sleep(30)

        app = Klokka(Slow("jobs.db"))
        """,
    )

    with subprocess.Popen(
        [*KLOKKA, "jobs", "list", "--app", "slow:app"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "reached\n"
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=30)

    assert process.returncode == 130
    assert (output, errors) == ("", "Interrupted.\n")


def test_a_terminal_gets_a_table_that_fits_and_keeps_hostile_text_harmless(shell: Shell) -> None:
    shell.enqueue(job("k" * 120, queue="q" * 120))
    shell.run("queues", "pause", "q" * 120, "--reason", "\x1b[5m[bold]x[/bold]")

    jobs = _on_terminal("jobs", "list")
    queues = _on_terminal("queues", "list", columns=300)

    assert all(len(line) <= 80 for line in jobs.splitlines())
    assert "\n 1  enqueued  k" in jobs.replace("\r", "")
    assert "…" in jobs
    assert "\\x1b[5m[bold]x[/bold]" in queues


def test_what_a_terminal_asked_as_json_is_json(shell: Shell) -> None:
    shell.enqueue(job())

    assert json.loads(_on_terminal("jobs", "list", "--json"))[0]["id"] == "1"


def _on_terminal(*arguments: str, columns: int = 80) -> str:
    """What the command writes to a terminal, whose colours are off."""
    controller, terminal = pty.openpty()
    environment = {**os.environ, "COLUMNS": str(columns), "TERM": "dumb", "NO_COLOR": "1"}
    with subprocess.Popen([*KLOKKA, *arguments], stdout=terminal, env=environment) as process:
        os.close(terminal)
        written = b""
        try:
            while chunk := os.read(controller, 65536):
                written += chunk
        except OSError:  # the other side is closed
            pass
        os.close(controller)
        assert process.wait(timeout=30) == 0
    return written.decode()


@pytest.mark.parametrize("shell_name", ["bash", "zsh", "fish"])
def test_completion_prints_a_script(shell_name: str) -> None:
    result = _run("completion", shell_name)

    assert result.returncode == 0
    assert "_KLOKKA_COMPLETE" in result.stdout


def test_completion_knows_the_states() -> None:
    environment = {
        **os.environ,
        "_KLOKKA_COMPLETE": "bash_complete",
        "COMP_WORDS": "klokka jobs list --status ",
        "COMP_CWORD": "4",
    }

    result = _run(env=environment)

    assert "plain,dead_lettered" in result.stdout.splitlines()
