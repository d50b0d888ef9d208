"""Tables and single records for people. On a terminal they fit its width; elsewhere nothing is ever cut."""

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

import click

from klokka.cli.text import shown, shown_lines

C = TypeVar("C", bound=Callable[..., object])

_STYLES: Final = {
    "running": "cyan",
    "succeeded": "green",
    "failed": "yellow",
    "dead_lettered": "red",
    "cancelled": "dim",
    "paused": "yellow",
    "orphaned": "red",
    "no": "red",
}


@dataclass(frozen=True, slots=True)
class Column:
    """A column by its title. On a narrow terminal those that may be `cut` give way to the others."""

    title: str
    cut: bool = False
    right: bool = False
    coloured: bool = False


def json_option(command: C) -> C:
    """Gives a command `--json`, as the parameter `as_json`."""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON document and nothing else.")(command)


def print_table(columns: Sequence[Column], rows: Iterable[Sequence[str]], *, nothing: str) -> None:
    """Prints one line for each row; where there is none, `nothing` is said on stderr.

    Cells are shown as text whatever they hold: no markup, no escape sequences, no line breaks.
    """
    cells = [[shown(cell) for cell in row] for row in rows]
    if not cells:
        click.echo(nothing, err=True)
    elif sys.stdout.isatty():
        _print_fitted(columns, cells)
    else:
        _print_whole(columns, cells)


def print_fields(fields: Iterable[tuple[str, str]]) -> None:
    """Prints one named value on each line, the values aligned."""
    pairs = [(shown(name), shown(value)) for name, value in fields]
    width = max((len(name) for name, _ in pairs), default=0) + 2
    for name, value in pairs:
        click.echo(click.style(name.ljust(width), dim=True) + value)


def print_block(name: str, text: str) -> None:
    """Prints a text of several lines under its name, indented, its own line breaks kept."""
    click.echo("\n" + click.style(name, dim=True))
    for line in shown_lines(text).splitlines():
        click.echo(f"  {line}")


def _print_whole(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> None:
    from rich.cells import cell_len

    lines = [[column.title for column in columns], *rows]
    widths = [max(cell_len(line[index]) for line in lines) for index in range(len(columns))]
    for line in lines:
        padded: list[str] = []
        for column, width, cell in zip(columns, widths, line, strict=True):
            space = " " * (width - cell_len(cell))
            padded.append(space + cell if column.right else cell + space)
        click.echo("  ".join(padded).rstrip())


def _print_fitted(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for column in columns:
        # Only columns that may wrap give way; their cells do not wrap, so they are cut with an ellipsis instead.
        table.add_column(
            Text(column.title), no_wrap=not column.cut, overflow="ellipsis", justify="right" if column.right else "left"
        )
    for row in rows:
        table.add_row(
            *(
                Text(cell, style=_STYLES.get(cell, "") if column.coloured else "", no_wrap=True, overflow="ellipsis")
                for column, cell in zip(columns, row, strict=True)
            )
        )
    Console(file=sys.stdout, highlight=False, markup=False, emoji=False).print(table)
