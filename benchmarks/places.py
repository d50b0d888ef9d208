"""Where a run works: a file or a database of its own, on the disk that is measured."""

import os
import tempfile
import uuid
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A store's URL, and a path for those who take no URL."""

    url: str
    path: str


class Places:
    """Makes fresh places in a folder. A server of PostgreSQL is started with the first place that needs one.

    KLOKKA_BENCHMARK_POSTGRES names another server to use: the URL of a role there that may create databases.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._stack = ExitStack()
        self._server = os.environ.get("KLOKKA_BENCHMARK_POSTGRES")

    @contextmanager
    def fresh(self, store: str) -> Generator[Place]:
        """A place for one run."""
        with tempfile.TemporaryDirectory(prefix="klokka-benchmark-", dir=self._folder) as folder:
            path = f"{folder}/jobs.db"
            if store == "postgres":
                with self._database() as url:
                    yield Place(url=url, path=path)
            else:
                yield Place(url="memory:" if store == "memory" else f"sqlite:///{path}", path=path)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._stack.close()

    @contextmanager
    def _database(self) -> Generator[str]:
        import psycopg

        name = f"klokka_benchmark_{uuid.uuid4().hex}"
        with psycopg.connect(self._url(), autocommit=True) as administrator:
            administrator.execute(f"create database {name} template template0 encoding 'UTF8'".encode())
            administrator.execute("checkpoint")  # what the run before has left to write is not this one's
            try:
                server, question, options = self._url().partition("?")
                yield f"{server.rpartition('/')[0]}/{name}{question}{options}"
            finally:
                administrator.execute(f"drop database {name} with (force)".encode())

    def _url(self) -> str:
        if self._server is None:
            from klokka.testing.postgres_server import PostgresServer

            self._server = self._stack.enter_context(PostgresServer.start(durable=True)).url()
        return self._server
