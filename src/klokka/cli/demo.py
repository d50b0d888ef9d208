"""`klokka demo`: durable jobs on an embedded file, through the death of a worker, with a ledger at the end."""

import asyncio
import json
import shlex
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from klokka.cli.demo_ledger import Ledger
from klokka.cli.demo_run import Run
from klokka.cli.exits import DONE, NO
from klokka.cli.source import without_password

MEANINGS = {
    "enqueued": "jobs that the store acknowledged",
    "succeeded": "ended well",
    "retried": "took more than one attempt",
    "dead_lettered": "given up and kept for people: one broken, one that kills its workers",
    "lost": "acknowledged, and neither ended well nor kept for people",
    "started_twice": "started again because their worker died: at-least-once, seen",
}


@click.command()
@click.option(
    "--jobs", default=3000, show_default=True, type=click.IntRange(100, 100_000), help="How many jobs to run."
)
@click.option("--store", "url", metavar="URL", help="A store to run on instead of a new embedded file.")
@click.option(
    "--postgres", is_flag=True, help="Bring a PostgreSQL server along and run on it; it ends with the command."
)
@click.option("--json", "as_json", is_flag=True, help="Print the ledger alone, as JSON.")
def demo(jobs: int, url: str | None, postgres: bool, as_json: bool) -> None:
    """Run a few thousand jobs, kill a worker in the middle, and count what became of them.

    Exits with 0 only if nothing was lost.
    """
    if postgres and url is not None:
        raise click.UsageError("--postgres brings a store and --store names one. Give one of them.")
    folder = Path(tempfile.mkdtemp(prefix="klokka-demo-"))
    console = Console(stderr=True, quiet=True) if as_json else Console()
    with _server(console) if postgres else _given(url or f"sqlite:///{folder / 'jobs.db'}") as place:
        run = Run(url=place, notes=folder, jobs=jobs)
        ledger = asyncio.run(run.to_the_end(console))
        if as_json:
            click.echo(json.dumps(ledger.as_dict()))
        else:
            _show(console, ledger)
            _tell_where(console, place, ends=postgres)
    raise SystemExit(DONE if ledger.lost == 0 else NO)


@contextmanager
def _given(url: str) -> Generator[str]:
    yield url


@contextmanager
def _server(console: Console) -> Generator[str]:
    """A server of the demo's own, which is gone with it however it ends."""
    from klokka.testing.postgres_server import PostgresServer

    console.print("A PostgreSQL server starts, for this demo alone…", highlight=False)
    with PostgresServer.start(durable=True) as server:
        yield server.url()


def _show(console: Console, ledger: Ledger) -> None:
    table = Table.grid(padding=(0, 2))
    for name, number in ledger.as_dict().items():
        table.add_row(name, f"{number:>6,}", MEANINGS[name])
    console.print()
    console.print(table)


def _tell_where(console: Console, url: str, *, ends: bool) -> None:
    """Says how to look at the jobs. A server that `ends` with the command waits for people to have looked."""
    if ends and not sys.stdin.isatty():
        return
    console.print("\nThe jobs are still there. Look at them:", highlight=False)
    store = shlex.quote(without_password(url))
    for command in (f"jobs list --status dead_lettered --store {store}", f"doctor --store {store}"):
        console.print(f"  klokka {command}", soft_wrap=True, markup=False, highlight=False)
    if ends:
        click.pause("\nThe server ends with this command. Press any key.")
