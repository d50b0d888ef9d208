"""`klokka tck`: whether a store keeps the contract, clause by clause."""

import contextlib
import os
import sys
from datetime import timedelta
from pathlib import Path

import click

from klokka.cli.documents import print_json
from klokka.cli.exits import BAD_INPUT, DONE, NO, Refused, StoreFailed
from klokka.cli.output import json_option
from klokka.cli.text import shown_lines
from klokka.tck.report import Failed, Report, Result


@click.command(short_help="Run the conformance kit on a store.")
@click.argument("target", metavar="MODULE:FACTORY|URL")
@click.option("--only", multiple=True, metavar="NAME", help="A clause, level, group or check. May be repeated.")
@click.option("--seed", type=click.IntRange(min=0), help="That of an earlier run, to do the same again.")
@click.option("--soak", type=click.FloatRange(min=0), default=0, metavar="MINUTES", help="Go on for so long.")
@click.option("--full", is_flag=True, help="Name the checks of every clause.")
@click.option("--junit", type=click.Path(path_type=Path, dir_okay=False), help="Write the report as JUnit XML too.")
@json_option
def tck(
    target: str,
    only: tuple[str, ...],
    seed: int | None,
    soak: float,
    full: bool,
    junit: Path | None,
    as_json: bool,
) -> None:
    """Run the conformance kit on a store of your own, or on one of ours.

    TARGET is a factory as docs/write-a-store.md describes it, or memory: or sqlite:///folder/any.db, for which each
    check gets a new file in that folder, or postgresql://host/database, for which each gets a new schema there. 0 if
    the store keeps all clauses that were asked, 1 if it broke one.
    """
    from klokka.tck import report_json, report_junit, report_text

    with contextlib.redirect_stdout(sys.stderr):  # what stores and factories print is not the answer
        report = _report(target, only, seed, timedelta(minutes=soak))
    if junit is not None:
        junit.write_text(report_junit.junit(report), encoding="utf-8")
    if as_json:
        print_json(report_json.document(report))
    else:
        click.echo(shown_lines(report_text.text(report, full=full)))
    _end(report)


def _report(target: str, only: tuple[str, ...], seed: int | None, soak: timedelta) -> Report:
    from klokka.cli.tck_subjects import subjects
    from klokka.tck.campaign import conduct, new_seed
    from klokka.tck.choice import chosen
    from klokka.tck.door import Unfit, Unreachable

    seed = new_seed() if seed is None else seed
    click.echo(f"seed {seed}", err=True)
    try:
        return conduct(subjects(target), chosen(only), seed=seed, soak=soak, told=_tell)
    except Unreachable as error:
        raise StoreFailed(str(error)) from error
    except Unfit as error:
        raise Refused(str(error)) from error


def _tell(result: Result) -> None:
    """Says at once what failed, since a soak may take the night."""
    if isinstance(result, Failed):
        click.echo(f"FAILED {result.check.id} {result.check.cited} seed {result.seed}", err=True)


def _end(report: Report) -> None:
    from klokka.tck.endings import Blocking

    code = NO if report.broken else BAD_INPUT if report.failed else DONE
    if any(isinstance(failed.error, Blocking) for failed in report.failed):
        # Threads that the store has blocked are never joined, and may not let the interpreter end.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    raise click.exceptions.Exit(code)
