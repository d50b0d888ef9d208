"""`klokka migrate`: the schema, for people who bring it up to date themselves."""

import click

from klokka.app.capability import capable
from klokka.cli.documents import print_json
from klokka.cli.exits import No
from klokka.cli.output import json_option
from klokka.cli.running import run_unopened
from klokka.cli.source import source, store_options
from klokka.spi.life import MigratableStore
from klokka.spi.store import JobStore


@click.command()
@click.option("--sql", is_flag=True, help="Print all migrations as a script, and change nothing.")
@click.option("--check", is_flag=True, help="Say where the schema stands, and change nothing; 1 if it is behind.")
@json_option
@store_options
def migrate(sql: bool, check: bool, as_json: bool) -> None:
    """Bring the schema of the store to this code's version. Done before, it changes nothing."""
    if sql and (check or as_json):
        raise click.UsageError("--sql prints a script alone. Leave the other options out.")
    if sql:
        click.echo(capable(source().store(), MigratableStore, "migrate").migration_sql(), nl=False)
        return

    async def work(store: JobStore) -> tuple[int, int]:
        migratable = capable(store, MigratableStore, "migrate")
        stood = await (migratable.schema() if check else migratable.migrate())
        return stood.current, stood.latest

    before, latest = run_unopened(work)
    if as_json:
        print_json({"before": before, "current": before if check else latest, "latest": latest})
    elif before == latest:
        click.echo(f"The schema is at version {latest}, which is this code's.")
    elif not check:
        click.echo(f"The schema was brought from version {before} to {latest}.")
    if check and before != latest:
        raise No(f"the schema is at version {before}, this code's is {latest}. Run `klokka migrate`.")
