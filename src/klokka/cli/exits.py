"""How a command ends: the exit codes, and which error leads to which."""

import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import IO, Any, Final

import click

from klokka.cli.text import shown_lines
from klokka.errors import (
    InvalidInput,
    KlokkaError,
    MisuseError,
    PayloadUndecodable,
    StoreError,
    UniqueConflict,
    UnknownSchedule,
)

DONE: Final = 0
NO: Final = 1
BAD_INPUT: Final = 2
STORE: Final = 3
INTERRUPTED: Final = 130

MEANINGS: Final = {
    DONE: "Done.",
    NO: "The answer is no: not found, nothing changed, something is wrong.",
    BAD_INPUT: "Bad usage or bad input; nothing was done.",
    STORE: "The store cannot be reached, is busy, or is not usable by this code.",
    INTERRUPTED: "Interrupted.",
}


class Ended(click.ClickException):
    """The command is over: the message goes to stderr and `exit_code` to the caller."""

    def show(self, file: IO[Any] | None = None) -> None:
        click.echo(f"Error: {shown_lines(self.message)}", file=file or sys.stderr)


class No(Ended):
    """The question was understood, and the answer is no."""

    exit_code = NO


class Refused(Ended):
    """The input is wrong in a way that no single option is to blame for."""

    exit_code = BAD_INPUT


class StoreFailed(Ended):
    """The store cannot do it now."""

    exit_code = STORE


@contextmanager
def exit_codes() -> Generator[None]:
    """Gives what goes wrong inside its exit code and one clear message. Bugs keep their traceback."""
    try:
        yield
        sys.stdout.flush()
    except MisuseError:
        raise
    except KlokkaError as error:
        raise _ended(error) from error
    except BrokenPipeError:
        # The reader has seen enough. What the interpreter still flushes at its end must not complain either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise click.exceptions.Exit(DONE) from None
    except (KeyboardInterrupt, click.Abort):
        click.echo("Interrupted.", err=True)
        raise click.exceptions.Exit(INTERRUPTED) from None


def _ended(error: KlokkaError) -> Ended:
    match error:
        case StoreError():
            return StoreFailed(str(error))
        case UniqueConflict() | UnknownSchedule():
            return No(str(error))
        case InvalidInput() | PayloadUndecodable():
            return Refused(str(error))
        case _:
            raise error
