"""The command line on a database of its own, in a folder of its own."""

import asyncio
import json
import textwrap
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from click.testing import CliRunner, Result

from klokka.cli.group import klokka
from klokka.core.ids import JobId, WorkerId
from klokka.core.records import JobDetails, NewJob
from klokka.stores.sqlite.store import SqliteStore

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Shell:
    """Runs commands in `folder`, whose database is `jobs.db`."""

    folder: Path

    def run(self, *arguments: str, input: str | bytes | None = None, **environment: str | None) -> Result:
        """What `klokka` with these arguments does; bugs are raised as they are."""
        result = CliRunner().invoke(klokka, list(arguments), input=input, env=environment, prog_name="klokka")
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    def json(self, *arguments: str) -> Any:
        """The one document that a command prints, which must succeed."""
        result = self.run(*arguments, "--json")
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)

    def on_store(self, verb: Callable[[SqliteStore], Awaitable[T]]) -> T:
        """What `verb` gives on the database."""

        async def act() -> T:
            store = SqliteStore(self.folder / "jobs.db")
            await store.open()
            try:
                return await verb(store)
            finally:
                await store.close()

        return asyncio.run(act())

    def enqueue(self, *jobs: NewJob) -> list[str]:
        """Stores jobs, and gives their ids as a user would type them."""
        return [str(result.id) for result in self.on_store(lambda store: store.enqueue(jobs))]

    def get(self, id: str) -> JobDetails:
        """The job, which must be there."""
        job = self.on_store(lambda store: store.get_job(JobId(int(id))))
        assert job is not None
        return job

    def write(self, name: str, text: str) -> Path:
        """A file in the folder."""
        file = self.folder / name
        file.write_text(textwrap.dedent(text), encoding="utf-8")
        return file


def job(kind: str = "email.welcome", payload: str = "{}", **others: Any) -> NewJob:
    """A job of which a test names what it is about."""
    return NewJob(kind=kind, payload=payload, **others)


WORKER = WorkerId("a-worker")
