"""`klokka demo`: durable jobs on an embedded file, through the death of a worker, with a ledger at the end."""

import asyncio
import json
import shlex
import tempfile
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from klokka.cli.demo_ledger import Ledger
from klokka.cli.demo_run import Run
from klokka.cli.exits import DONE, NO

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
@click.option("--json", "as_json", is_flag=True, help="Print the ledger alone, as JSON.")
def demo(jobs: int, url: str | None, as_json: bool) -> None:
    """Run a few thousand jobs, kill a worker in the middle, and count what became of them.

    Exits with 0 only if nothing was lost.
    """
    folder = Path(tempfile.mkdtemp(prefix="klokka-demo-"))
    console = Console(stderr=True, quiet=True) if as_json else Console()
    run = Run(url=url or f"sqlite:///{folder / 'jobs.db'}", notes=folder, jobs=jobs)
    ledger = asyncio.run(run.to_the_end(console))
    if as_json:
        click.echo(json.dumps(ledger.as_dict()))
    else:
        _show(console, ledger, run.url)
    raise SystemExit(DONE if ledger.lost == 0 else NO)


def _show(console: Console, ledger: Ledger, url: str) -> None:
    table = Table.grid(padding=(0, 2))
    for name, number in ledger.as_dict().items():
        table.add_row(name, f"{number:>6,}", MEANINGS[name])
    console.print()
    console.print(table)
    console.print("\nThe jobs are still there. Look at them:", highlight=False)
    store = shlex.quote(url)
    for command in (f"jobs list --status dead_lettered --store {store}", f"doctor --store {store}"):
        console.print(f"  klokka {command}", soft_wrap=True, markup=False, highlight=False)
