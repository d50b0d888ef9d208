"""The command `klokka`: its subcommands by name, each imported when it is used."""

import importlib
from collections.abc import Mapping
from typing import Any, Final

import click

from klokka.cli import exits
from klokka.cli.source import store_options

COMMANDS: Final[Mapping[str, str]] = {
    "worker": "klokka.cli.worker:worker",
    "enqueue": "klokka.cli.enqueue:enqueue",
    "jobs": "klokka.cli.jobs:jobs",
    "queues": "klokka.cli.queues:queues",
    "schedules": "klokka.cli.schedules:schedules",
    "cron": "klokka.cli.cron:cron",
    "workers": "klokka.cli.workers:workers",
    "migrate": "klokka.cli.migrate:migrate",
    "doctor": "klokka.cli.doctor:doctor",
    "tck": "klokka.cli.tck:tck",
    "demo": "klokka.cli.demo:demo",
    "completion": "klokka.cli.completion:completion",
}
"""Where each command lives, in the order of `klokka --help`. A new command is one line here."""


class LazyGroup(click.Group):
    """A group whose commands are imported by name, so that none pays for the others."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name].partition(":")
        command: click.Command = getattr(importlib.import_module(module), name)
        return command

    def invoke(self, ctx: click.Context) -> Any:
        with exits.exit_codes():
            return super().invoke(ctx)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Exit codes"):
            formatter.write_dl([(str(code), meaning) for code, meaning in exits.MEANINGS.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="klokka", prog_name="klokka", message="%(prog)s %(version)s")
@store_options
def klokka() -> None:
    """A durable job queue and scheduler that lives in the database you already run.

    Commands find their store by --store or --app, here or behind the command; else by KLOKKA_STORE or KLOKKA_APP;
    else by app or store under [tool.klokka] in pyproject.toml of the current folder.
    """
