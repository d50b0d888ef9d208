"""`klokka tck`: a store is tried from the command line, and the exit code says what came of it."""

import json
from pathlib import Path
from xml.etree import ElementTree as Xml

from tests.support.shell import Shell

KIT = """
    import itertools
    from contextlib import asynccontextmanager

    from klokka.errors import StoreUnavailable
    from klokka.stores.memory.store import MemoryStore
    from klokka.tck.subject import Subject


    class Reversed(MemoryStore):
        async def claim(self, **arguments):
            print("noise of the store")
            return (await super().claim(**arguments))[::-1]


    @asynccontextmanager
    async def reversed_store():
        yield Subject(store=Reversed())


    @asynccontextmanager
    async def away():
        raise StoreUnavailable("no server there")
        yield


    turns = itertools.count()


    @asynccontextmanager
    async def used_up():
        if next(turns) > 3:
            raise ConnectionError("no more databases")
        yield Subject(store=MemoryStore())


    number = 7
"""


def test_a_factory_that_fails_on_the_way_answers_2(shell: Shell) -> None:
    shell.write("kit_used_up.py", KIT)

    result = shell.run("tck", "kit_used_up:used_up", "--only", "claim_order")

    assert result.exit_code == 2
    assert "ConnectionError: no more databases" in result.stdout
    assert "given up: 3 checks came to no end, or got no store." in result.stdout


def test_a_right_store_of_ours_conforms(shell: Shell) -> None:
    result = shell.run("tck", "memory:", "--only", "lease.cursor", "--seed", "4")

    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[0].startswith("memory ")
    assert "leases: reached" in result.stdout
    assert result.stderr == "seed 4\n"


def test_a_sqlite_url_names_where_new_files_are_made(shell: Shell) -> None:
    result = shell.run("tck", f"sqlite:///{shell.folder}/mine.db", "--only", "lease.cursor")

    assert result.exit_code == 0, result.output
    assert not (shell.folder / "mine.db").exists()
    assert not [path for path in shell.folder.iterdir() if "tck" in path.name]


def test_a_broken_clause_is_told_and_answers_1(shell: Shell) -> None:
    shell.write("kit_broken.py", KIT)

    result = shell.run("tck", "kit_broken:reversed_store", "--only", "claim.order", "--seed", "4", "--full")

    assert result.exit_code == 1
    assert "FAILED claim_order.due_jobs_come_by_time_and_then_by_id" in result.stdout
    assert "FAILED claim_order.due_jobs_come_by_time_and_then_by_id" in result.stderr
    assert "noise" not in result.stdout


def test_documents_are_written_for_scripts_and_build_servers(shell: Shell, tmp_path: Path) -> None:
    shell.write("kit_documents.py", KIT)
    junit = tmp_path / "report.xml"

    result = shell.run("tck", "kit_documents:reversed_store", "--only", "claim.order", "--json", "--junit", str(junit))

    assert result.exit_code == 1
    document = json.loads(result.stdout)
    assert document["conforms"] is False
    assert Xml.parse(junit).getroot().get("tests") == str(len(document["checks"]))  # noqa: S314 - our own


def test_bad_usage_answers_2(shell: Shell) -> None:
    shell.write("kit_usage.py", KIT)

    for target, only, said in (
        ("kit_usage:nothing", "lease", "has no 'nothing'"),
        ("kit_usage:reversed_stor", "lease", "Did you mean kit_usage:reversed_store?"),
        ("not_there:fresh_store", "lease", "there is no module 'not_there', neither in "),
        ("kit_usage:number", "lease", "is no factory but a int"),
        ("kit_usage", "lease", "names no factory"),
        ("redis://localhost", "lease", "no store for"),
        ("sqlite:///x.db", "lease.cursors", "Did you mean lease.cursor"),
    ):
        result = shell.run("tck", target, "--only", only)
        assert (result.exit_code, result.stdout) == (2, ""), target
        assert said in result.stderr
        assert "Traceback" not in result.stderr


def test_a_store_that_cannot_be_reached_answers_3(shell: Shell) -> None:
    shell.write("kit_away.py", KIT)

    result = shell.run("tck", "kit_away:away", "--only", "lease")

    assert result.exit_code == 3
    assert "the store cannot be reached: no server there" in result.stderr
