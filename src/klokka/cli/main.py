"""The entry point of the command `klokka`."""

import io
import os
import sys
from pathlib import Path


def main() -> None:
    """Runs the command line of this process and exits with its code; see `exits`."""
    if sys.argv[1:] == ["--version"]:
        _print_version()
        return
    _make_streams_bear_anything()
    from klokka.cli.group import klokka

    klokka(prog_name="klokka")


def _make_streams_bear_anything() -> None:
    """A narrow encoding, or a stream that the caller has closed, must not turn an answer into an error."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115  # stays to the end
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _print_version() -> None:
    """As the group's own option does it, without importing what commands need."""
    from importlib.metadata import version

    print(f"klokka {version('klokka')}")
