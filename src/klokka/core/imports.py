"""Importing a user's module by its name, as commands and the conformance kit are given it."""

import importlib
import sys
from pathlib import Path
from types import ModuleType


class NoSuchModule(Exception):
    """There is no module of this name; the message says where it was looked for and what to do."""


def import_named(name: str) -> ModuleType:
    """The module, with the current folder importable.

    Raises:
        NoSuchModule: it is not found, or a package that it stands in; but not, if it imports another that is not found.
        Exception, SystemExit: whatever the module itself raises.
    """
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise
        raise NoSuchModule(
            f"there is no module {error.name!r}, neither in {here} nor among what is installed. "
            "Run the command in the folder that holds it."
        ) from error
