"""`klokka workers`: who works on this store."""

from datetime import datetime
from typing import Final

import click

from klokka.app.capability import capable
from klokka.cli.documents import flat, print_json
from klokka.cli.output import Column, json_option, print_table
from klokka.cli.running import run
from klokka.cli.source import store_options
from klokka.cli.times import relative
from klokka.core.worker_records import WorkerRow
from klokka.spi.fleet import FleetStore
from klokka.spi.store import JobStore

_COLUMNS: Final = (
    Column("WORKER", cut=True),
    Column("LIVE", coloured=True),
    Column("HOST", cut=True),
    Column("PID", right=True),
    Column("VERSION", cut=True),
    Column("BUSY", right=True),
    Column("QUEUES", cut=True),
    Column("KINDS", right=True),
    Column("STARTED"),
    Column("LAST BEAT"),
)


@click.command()
@json_option
@store_options
def workers(as_json: bool) -> None:
    """List the workers that the store remembers, live ones first."""

    async def read(store: JobStore) -> tuple[list[WorkerRow], datetime]:
        return await capable(store, FleetStore, "workers").workers(), await store.now()

    rows, now = run(read)
    if as_json:
        print_json([flat(row, "beat") for row in rows])
    else:
        print_table(_COLUMNS, (_cells(row, now) for row in rows), nothing="No worker is known.")


def _cells(row: WorkerRow, now: datetime) -> tuple[str, ...]:
    beat = row.beat
    return (
        beat.id,
        "yes" if row.live else "no",
        beat.host,
        str(beat.pid),
        beat.version,
        f"{beat.busy}/{beat.slots}",
        ", ".join(beat.queues),
        str(len(beat.kinds)),
        relative(row.started_at, now),
        relative(row.last_beat, now),
    )
