"""The entry point of the command `klokka`."""

import io
import sys


def main() -> None:
    """Runs the command line of this process and exits with its code; see `exits`."""
    if sys.argv[1:] == ["--version"]:
        _print_version()
        return
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A narrow encoding must not turn an answer into an error.
            stream.reconfigure(errors="backslashreplace")
    from klokka.cli.group import klokka

    klokka(prog_name="klokka")


def _print_version() -> None:
    """As the group's own option does it, without importing what commands need."""
    from importlib.metadata import version

    print(f"klokka {version('klokka')}")
