"""`klokka schedules`: what recurs, who fires it, and letting it rest or run."""

from datetime import datetime
from typing import Final

import click

from klokka.app import schedule_verbs
from klokka.app.schedule_verbs import ScheduleState
from klokka.cli.apps import load_app
from klokka.cli.cron import COLUMNS, fire_cells, fire_document
from klokka.cli.documents import flat, print_json
from klokka.cli.exits import No
from klokka.cli.output import Column, json_option, print_fields, print_table
from klokka.cli.parameters import INSTANT, SCHEDULE, TEXT
from klokka.cli.running import run
from klokka.cli.source import configured_app, source, store_options
from klokka.cli.times import relative, stamp
from klokka.core.ids import ScheduleId
from klokka.runtime.recurrence import Recurrence
from klokka.schedules.preview import preview
from klokka.spi.store import JobStore

_COLUMNS: Final = (
    Column("SCHEDULE", cut=True),
    Column("KIND", cut=True),
    Column("STATE", coloured=True),
    Column("NEXT FIRE"),
    Column("LAST FIRE"),
    Column("DESCRIPTION", cut=True),
)


@click.group()
def schedules() -> None:
    """List, look at, trigger, pause and resume schedules."""


@schedules.command("list")
@json_option
@store_options
def list_schedules(as_json: bool) -> None:
    """List all schedules that the store knows, also those that the code has no more.

    One is orphaned if no live worker has its definition, so that nobody fires it.
    """

    async def read(store: JobStore) -> tuple[list[ScheduleState], datetime]:
        return await schedule_verbs.states(store), await store.now()

    states, now = run(read)
    if as_json:
        print_json([flat(state, "row") for state in states])
    else:
        rows = ((*_names(state), *_times(state, now), state.row.description) for state in states)
        print_table(_COLUMNS, rows, nothing="No schedule is known. A worker registers those of its app when it starts.")


@schedules.command("show")
@click.argument("id", type=SCHEDULE)
@json_option
@store_options
def show(id: ScheduleId, as_json: bool) -> None:
    """Show all that the store knows of a schedule."""

    async def read(store: JobStore) -> tuple[ScheduleState, datetime]:
        return await schedule_verbs.state(store, id), await store.now()

    state, now = run(read)
    if as_json:
        print_json(flat(state, "row"))
        return
    row = state.row
    next_fire, last_fire = (
        "-" if at is None else f"{stamp(at)}  {relative(at, now)}" for at in (row.next_fire_at, row.last_fired_at)
    )
    print_fields(
        [
            ("schedule", row.id),
            ("kind", row.kind),
            ("description", row.description),
            ("state", _state(state)),
            ("paused", "-" if row.paused is None else row.paused or "yes"),
            ("next fire", next_fire),
            ("last fire", last_fire),
            ("fingerprint", row.fingerprint),
        ]
    )


@schedules.command("next")
@click.argument("id", type=SCHEDULE)
@click.option("--after", type=INSTANT, help="Show fires later than this; now by the store's clock, if left out.")
@click.option("--count", type=click.IntRange(1, 1000), default=5, show_default=True, help="How many fires.")
@json_option
@store_options
def next_fires(id: ScheduleId, after: datetime | None, count: int, as_json: bool) -> None:
    """Show when a schedule of the app fires next, and what clock changes do to it."""
    schedule = _defined(id).schedule
    fires = preview(schedule, after=after or run(lambda store: store.now()), most=count)
    if as_json:
        print_json([fire_document(fire) for fire in fires])
        return
    print_fields([("schedule", id), ("means", schedule.describe())])
    click.echo()
    print_table(COLUMNS, map(fire_cells, fires), nothing="It fires no more.")


@schedules.command("trigger")
@click.argument("id", type=SCHEDULE)
@json_option
@store_options
def trigger(id: ScheduleId, as_json: bool) -> None:
    """Run a schedule of the app at once. Its own fires are not moved by that."""
    request = _defined(id).extra()
    (result,) = run(lambda store: store.enqueue([request]))
    if as_json:
        print_json(result)
    elif result.created:
        click.echo(f"Job {result.id} is enqueued.")
    else:
        click.echo(f"Job {result.id} is live already, and runs of {id} may not overlap.")


@schedules.command("pause")
@click.argument("id", type=SCHEDULE)
@click.option("--reason", type=TEXT, required=True, help="Why, for whoever wonders.")
@store_options
def pause(id: ScheduleId, reason: str) -> None:
    """Stop a schedule from firing, until it is resumed."""
    run(lambda store: schedule_verbs.pause(store, id, reason))
    click.echo(f"Schedule {id} is paused.")


@schedules.command("resume")
@click.argument("id", type=SCHEDULE)
@click.option("--catch-up", is_flag=True, help="Let its misfire policy decide on what was missed, instead of skipping.")
@store_options
def resume(id: ScheduleId, catch_up: bool) -> None:
    """Let a schedule fire again. What was missed meanwhile is skipped, for which its app must be named."""
    app = source().app
    known = None if app is None else load_app(app).schedules.get(id)
    resumed = run(lambda store: schedule_verbs.resume(store, id, known, catch_up=catch_up))
    if resumed is None:
        raise No(f"schedule {id} is not paused.")
    skipped = "" if resumed.skipped is None else f" Skipped ticks: {resumed.skipped}."
    click.echo(f"Schedule {id} is resumed.{skipped}")


def _defined(id: ScheduleId) -> Recurrence:
    """The definition in the app that is named.

    Raises:
        Refused: no app is named.
        No: it has no such schedule.
    """
    name = configured_app()
    found = load_app(name).schedules
    if id not in found:
        raise No(f"{name} has no schedule {id!r}. It has: {', '.join(sorted(found)) or 'none'}.")
    return found[id]


def _names(state: ScheduleState) -> tuple[str, str, str]:
    return state.row.id, state.row.kind, _state(state)


def _times(state: ScheduleState, now: datetime) -> tuple[str, str]:
    return relative(state.row.next_fire_at, now), relative(state.row.last_fired_at, now)


def _state(state: ScheduleState) -> str:
    if state.row.paused is not None:
        return "paused"
    if state.orphaned:
        return "orphaned"
    return "ended" if state.row.next_fire_at is None else "active"
