"""`klokka queues`: how lines stand, and letting them rest."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

import click

from klokka.app.capability import capable
from klokka.cli.documents import print_json
from klokka.cli.exits import No
from klokka.cli.output import Column, json_option, print_table
from klokka.cli.parameters import QUEUE, TEXT
from klokka.cli.running import run
from klokka.cli.source import store_options
from klokka.cli.times import relative
from klokka.core.records import QueueDepth
from klokka.spi.fleet import FleetStore
from klokka.spi.query import QueryableStore
from klokka.spi.store import JobStore

_COLUMNS: Final = (
    Column("QUEUE", cut=True),
    Column("DUE", right=True),
    Column("WAITING", right=True),
    Column("RUNNING", right=True),
    Column("OLDEST DUE"),
    Column("PAUSED", cut=True),
)


@click.group()
def queues() -> None:
    """List, pause and resume queues."""


@queues.command("list")
@json_option
@store_options
def list_queues(as_json: bool) -> None:
    """List the queues that have live jobs or are paused."""

    async def read(store: JobStore) -> tuple[Sequence[QueueDepth], datetime]:
        return await capable(store, QueryableStore, "queues list").queue_depths(), await store.now()

    depths, now = run(read)
    if as_json:
        print_json(depths)
        return
    rows = (
        (
            depth.queue,
            str(depth.due),
            str(depth.waiting),
            str(depth.running),
            relative(depth.oldest_due, now),
            "-" if depth.paused is None else depth.paused or "yes",
        )
        for depth in depths
    )
    print_table(_COLUMNS, rows, nothing="No queue has live jobs or is paused.")


@queues.command("pause")
@click.argument("name", type=QUEUE)
@click.option("--reason", type=TEXT, required=True, help="Why, for whoever wonders.")
@store_options
def pause(name: str, reason: str) -> None:
    """Stop claims from a queue. It takes new jobs, and its running ones go on."""
    run(lambda store: capable(store, FleetStore, "queues pause").pause_queue(name, reason))
    click.echo(f"Queue {name} is paused.")


@queues.command("resume")
@click.argument("name", type=QUEUE)
@store_options
def resume(name: str) -> None:
    """Let claims from a queue come again."""
    if not run(lambda store: capable(store, FleetStore, "queues resume").resume_queue(name)):
        raise No(f"queue {name} is not paused.")
    click.echo(f"Queue {name} is resumed.")
