"""`klokka cron`: what an expression means, before anybody trusts it."""

import re
from datetime import UTC, datetime

import click

from klokka.cli.documents import print_json
from klokka.cli.output import Column, json_option, print_fields, print_table
from klokka.cli.parameters import INSTANT
from klokka.cli.times import seconds_stamp
from klokka.schedules.cron import cron as parse
from klokka.schedules.preview import Fire, preview

COLUMNS = (Column("UTC"), Column("LOCAL"), Column("NOTE", cut=True))


class _Explaining(click.Command):
    """Takes an argument such as `-1 * * * *` for an expression and no option, so that it is told what is wrong with it."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        dashed = [arg for arg in args if re.match(r"-[^-].* ", arg)]
        if dashed and "--" not in args:
            args = [*(arg for arg in args if arg not in dashed), "--", *dashed]
        return super().parse_args(ctx, args)


@click.group()
def cron() -> None:
    """Explain cron expressions."""


@cron.command("explain", cls=_Explaining)
@click.argument("expression")
@click.option("--zone", metavar="ZONE", default="UTC", show_default=True, help="IANA name of the zone.")
@click.option("--seconds", is_flag=True, help="Six fields, seconds first.")
@click.option("--after", type=INSTANT, help="Show fires later than this; now, if left out.")
@click.option("--count", type=click.IntRange(1, 1000), default=5, show_default=True, help="How many fires.")
@json_option
def explain(expression: str, zone: str, seconds: bool, after: datetime | None, count: int, as_json: bool) -> None:
    """Say in words when EXPRESSION fires, and show the next fires and what clock changes do to them.

    One that is refused ends with 2, and the message says which field, where and what instead.
    """
    schedule = parse(expression, zone=zone, seconds=seconds)
    fires = preview(schedule, after=after or datetime.now(UTC), most=count)
    if as_json:
        print_json(
            {
                "expression": schedule.expression,
                "description": schedule.describe(),
                "zone": schedule.zone,
                "next": [seconds_stamp(fire.at) for fire in fires],
                "fires": [fire_document(fire) for fire in fires],
            }
        )
        return
    print_fields([("expression", schedule.expression), ("means", schedule.describe())])
    click.echo()
    print_table(COLUMNS, map(fire_cells, fires), nothing="It fires no more.")


def fire_cells(fire: Fire) -> tuple[str, str, str]:
    """A fire as a line of a table."""
    return seconds_stamp(fire.at), fire.local.isoformat(" "), "; ".join(fire.notes) or "-"


def fire_document(fire: Fire) -> dict[str, object]:
    """A fire in JSON."""
    return {"at": seconds_stamp(fire.at), "local": fire.local.isoformat(), "notes": fire.notes}
