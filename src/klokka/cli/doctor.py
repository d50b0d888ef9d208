"""`klokka doctor`: whether a store can be worked with from here, and what is wrong."""

from collections.abc import Iterator
from datetime import timedelta

import click

from klokka.cli.diagnosis import Diagnosis, diagnose
from klokka.cli.documents import document, print_json
from klokka.cli.exits import NO
from klokka.cli.output import json_option, print_fields
from klokka.cli.running import run_unopened
from klokka.cli.source import source, store_options
from klokka.cli.text import shown
from klokka.core.durations import spell


@click.command(short_help="Say what is wrong with the store and the fleet.")
@json_option
@store_options
def doctor(as_json: bool) -> None:
    """Look at the store and the fleet, and say what is wrong and what to do. 1 if something is."""
    spelled = source().spelled
    found = run_unopened(lambda store: diagnose(store, spelled))
    if as_json:
        print_json({"healthy": not found.findings, **document(found)})
    else:
        _print(found)
    if found.findings:
        raise click.exceptions.Exit(NO)


def _print(found: Diagnosis) -> None:
    print_fields(_facts(found))
    click.echo()
    print_fields((name.replace("_", " "), "yes" if there else "no") for name, there in found.capabilities.items())
    click.echo()
    for finding in found.findings:
        click.echo(f"{click.style('Wrong:', fg='red')} {shown(finding.problem)}")
        if finding.advice:
            click.echo(f"  Do: {shown(finding.advice)}")
    if not found.findings:
        click.echo(click.style("Nothing is wrong.", fg="green"))


def _facts(found: Diagnosis) -> Iterator[tuple[str, str]]:
    store, limits = found.store, found.store.limits
    yield "store", f"{store.name} {store.version}"
    yield "from", found.source
    yield "survives", store.survives.value
    yield "waits at most", spell(store.bound)
    yield "limits in bytes", f"payload {limits.payload:,}, headers {limits.headers:,}, key {limits.key:,}"
    if found.schema is not None:
        yield "schema", f"version {found.schema.current}, this code's is {found.schema.latest}"
    yield from (found.facts or {}).items()
    if found.clock_ahead is not None:
        yield "clock", f"{'+' if found.clock_ahead >= timedelta(0) else '-'}{spell(abs(found.clock_ahead))}"
    if found.wakeup is not None:
        yield "wakeup", f"after {spell(found.wakeup)}"
    if found.jobs is not None:
        yield "jobs", ", ".join(f"{count:,} {status}" for status, count in found.jobs.items() if count) or "none"
    if found.live_workers is not None:
        yield "live workers", f"{found.live_workers:,}"
    if found.paused_queues:
        yield "paused queues", ", ".join(f"{name} ({reason})" for name, reason in found.paused_queues.items())
