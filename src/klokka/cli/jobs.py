"""`klokka jobs`: looking at jobs. Acting on them is in `actions`."""

from dataclasses import replace
from datetime import datetime
from typing import Final

import click

from klokka.app.capability import capable
from klokka.cli.actions import cancel, delete, requeue
from klokka.cli.documents import flat, print_json
from klokka.cli.exits import No
from klokka.cli.filters import filter_options
from klokka.cli.output import Column, json_option, print_block, print_fields, print_table
from klokka.cli.parameters import JOB_ID
from klokka.cli.running import run
from klokka.cli.source import store_options
from klokka.cli.times import relative, stamp
from klokka.core.ids import JobId
from klokka.core.records import JobDetails, JobQuery, JobSummary
from klokka.core.states import JobStatus
from klokka.spi.query import QueryableStore
from klokka.spi.store import JobStore

_COLUMNS: Final = (
    Column("ID", right=True),
    Column("STATUS", coloured=True),
    Column("KIND", cut=True),
    Column("QUEUE", cut=True),
    Column("ATTEMPT", right=True),
    Column("ENQUEUED"),
    Column("NEXT OR ENDED"),
)


@click.group()
def jobs() -> None:
    """List, show, requeue, cancel and delete jobs."""


for action in (requeue, cancel, delete):
    jobs.add_command(action)


@jobs.command("list")
@filter_options
@click.option("--limit", type=click.IntRange(1, 10_000), default=50, show_default=True, help="At most so many.")
@click.option("--before", type=JOB_ID, help="Only jobs with a smaller id: the last one of the page before.")
@json_option
@store_options
def list_jobs(query: JobQuery, limit: int, before: JobId | None, as_json: bool) -> None:
    """List jobs, the latest first. Several filters must all fit."""
    page = replace(query, limit=limit, before=before)

    async def read(store: JobStore) -> tuple[list[JobSummary], datetime]:
        return await capable(store, QueryableStore, "jobs list").list_jobs(page), await store.now()

    found, now = run(read)
    if as_json:
        print_json(found)
        return
    print_table(_COLUMNS, (_row(job, now) for job in found), nothing="No jobs fit.")
    if len(found) == limit:
        click.echo(f"There may be more: --before {found[-1].id}", err=True)


@jobs.command("show")
@click.argument("id", type=JOB_ID)
@json_option
@store_options
def show_job(id: JobId, as_json: bool) -> None:
    """Show all that is known of one job."""

    async def read(store: JobStore) -> tuple[JobDetails | None, datetime]:
        return await capable(store, QueryableStore, "jobs show").get_job(id), await store.now()

    job, now = run(read)
    if job is None:
        raise No(f"job {id} is unknown: it never was, was deleted, or was swept after its retention.")
    if as_json:
        print_json(flat(job, "summary"))
    else:
        _show(job, now)


def _row(job: JobSummary, now: datetime) -> tuple[str, ...]:
    when = job.terminal_at or job.retry_at or (job.run_at if job.status is JobStatus.SCHEDULED else None)
    return (
        str(job.id),
        job.status.value,
        job.kind,
        job.queue,
        str(job.attempt),
        relative(job.enqueued_at, now),
        relative(when, now),
    )


def _show(job: JobDetails, now: datetime) -> None:
    def time(instant: datetime | None) -> str:
        return "-" if instant is None else f"{stamp(instant)} ({relative(instant, now)})"

    summary = job.summary
    print_fields(
        [
            ("id", str(summary.id)),
            ("kind", summary.kind),
            ("queue", summary.queue),
            ("status", summary.status.value),
            ("attempt", str(summary.attempt)),
            ("lapses", str(job.lapses)),
            ("enqueued at", time(summary.enqueued_at)),
            ("meant for", time(job.scheduled_for)),
            ("runs at", time(summary.run_at)),
            ("retry at", time(summary.retry_at)),
            ("ended at", time(summary.terminal_at)),
            ("unique key", job.unique_key or "-"),
            ("schedule", summary.schedule_id or "-"),
            ("worker", job.holder or "-"),
            ("lease until", time(job.lease_until)),
            ("fence", str(job.fence)),
            ("progress", "-" if job.progress is None else f"{job.progress:.0%}"),
            ("payload version", str(job.payload_version)),
            *((f"header {name}", value) for name, value in sorted(job.headers.items())),
        ]
    )
    print_block("payload", job.payload)
    if job.last_error is not None:
        error = job.last_error
        print_block(
            "last error",
            f"{error.type}: {error.message}\nin attempt {error.attempt}, {time(error.at)}\n{error.traceback}".rstrip(),
        )
