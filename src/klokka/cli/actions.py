"""`klokka jobs requeue`, `cancel` and `delete`: some jobs by their ids, or all that fit filters."""

from typing import Final

import click

from klokka.cli.bulk import CANCEL, DELETE, REQUEUE, Action, Tally, act_on, fitting
from klokka.cli.documents import print_json
from klokka.cli.exits import NO, No, Refused
from klokka.cli.filters import filter_options, spell_filters
from klokka.cli.output import json_option
from klokka.cli.parameters import JOB_ID
from klokka.cli.running import run
from klokka.cli.source import store_options
from klokka.cli.text import shown
from klokka.core.ids import JobId
from klokka.core.records import JobQuery


def _command(action: Action, text: str) -> click.Command:
    """The three commands differ in their action and in their words."""

    @click.command(action.verb, help=text)
    @click.argument("ids", metavar="[ID]...", nargs=-1, type=JOB_ID)
    @click.option("--all", "everything", is_flag=True, help="All jobs that fit the filters, instead of ids.")
    @filter_options
    @click.option("--yes", "-y", is_flag=True, help="Do not ask before acting on all that fit.")
    @json_option
    @store_options
    def command(ids: tuple[JobId, ...], everything: bool, query: JobQuery, yes: bool, as_json: bool) -> None:
        _check_usage(action, ids, everything, query)
        chosen = list(dict.fromkeys(ids))
        if everything:
            chosen = run(lambda store: fitting(store, query, action))
            if chosen and not yes:
                _confirm(action, len(chosen), query)
        _act(action, chosen, query, everything, as_json)

    return command


def _check_usage(action: Action, ids: tuple[JobId, ...], everything: bool, query: JobQuery) -> None:
    filters = spell_filters(query)
    if everything and ids:
        raise click.UsageError("ids and --all exclude each other. Give the ids, or --all with filters.")
    if not everything and filters:
        raise click.UsageError(f"filters need --all. Write --all {shown(filters)}.")
    if not everything and not ids:
        raise click.UsageError("no job is named. Give ids, or --all with filters.")
    if query.status is not None and query.status not in action.applies_to:
        able = ", ".join(sorted(action.applies_to))
        raise click.UsageError(f"a job that is {query.status.value} cannot be {action.done}. It may be: {able}.")
    if everything and action is REQUEUE and query.status is None:
        raise click.UsageError(
            "requeue --all needs --status, so that what succeeded is not run again by mistake: --status dead_lettered."
        )


def _confirm(action: Action, count: int, query: JobQuery) -> None:
    which = shown(spell_filters(query)) or "the whole store"
    try:
        agreed = click.confirm(f"{action.verb.capitalize()} {count:,} jobs ({which})?", err=True)
    except click.Abort as error:
        if not isinstance(error.__context__, EOFError):
            raise
        click.echo(err=True)  # ends the line of the question
        raise Refused("nobody can be asked here. Add --yes to act without asking.") from error
    if not agreed:
        raise No(f"nothing was {action.done}.")


def _act(action: Action, ids: list[JobId], query: JobQuery, everything: bool, as_json: bool) -> None:
    tally = Tally()
    try:
        if ids:
            run(lambda store: act_on(store, ids, query.status, action, tally))
    except BaseException:
        if tally.changed:
            click.echo(f"Stopped: {tally.changed:,} of {len(ids):,} jobs were {action.done}.", err=True)
        raise
    if as_json:
        unchanged = [{"id": job, "reason": reason} for job, reason in tally.unchanged]
        print_json({"action": action.verb, "changed": tally.changed, "unchanged": unchanged})
    else:
        for job, reason in tally.unchanged:
            click.echo(f"Job {job} was not {action.done}: {reason}.", err=True)
        click.echo(f"{action.done.capitalize()} {tally.changed:,} of {len(ids):,} jobs.")
    if not tally.changed or (tally.unchanged and not everything):
        raise click.exceptions.Exit(NO)


requeue: Final = _command(
    REQUEUE,
    "Run ended jobs again, due now and with their attempts counted anew.\n\n"
    "A job whose unique key another live job holds is left as it is.",
)
cancel: Final = _command(
    CANCEL, "Call jobs off that have not ended.\n\nA running one is told at its worker's next heartbeat."
)
delete: Final = _command(
    DELETE, "Remove jobs whatever their state.\n\nA running one is told at its worker's next heartbeat."
)
