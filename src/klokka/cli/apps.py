"""Importing the user's app by its name, `module:object`, with an error for each way in which that fails."""

import contextlib
import functools
import importlib
import sys
import traceback
from types import ModuleType
from typing import Any

from klokka.app.klokka import Klokka
from klokka.cli.exits import Refused
from klokka.core import imports


def load_app(reference: str) -> Klokka:
    """The app that `reference` names, with the current folder importable.

    What the user's module prints while it is imported goes to stderr, so that stdout stays the command's.

    Raises:
        Refused: says which part is wrong; a module that fails has its own traceback shown before.
    """
    name, colon, path = reference.partition(":")
    if not (colon and _dotted(name) and _dotted(path)):
        raise Refused(f"{reference!r} names no app. Write it as module:object, such as jobs:app.")
    module = _import(name)
    try:
        found: Any = functools.reduce(getattr, path.split("."), module)
    except AttributeError as error:
        raise Refused(f"module {name!r} has no {path!r}. {_candidates(module)}") from error
    if not isinstance(found, Klokka):
        raise Refused(f"{reference} is no Klokka app but a {type(found).__name__}. {_candidates(module)}")
    return found


def _dotted(path: str) -> bool:
    return all(part.isidentifier() for part in path.split("."))


def _import(name: str) -> ModuleType:
    try:
        with contextlib.redirect_stdout(sys.stderr):
            return imports.import_named(name)
    except imports.NoSuchModule as error:
        raise Refused(str(error)) from error
    except (Exception, SystemExit) as error:
        raise _failed(name, error) from error


def _failed(name: str, error: BaseException) -> Refused:
    """Shows the traceback from the user's first line on; ours and the importer's say nothing to them."""
    trace = error.__traceback__
    while trace is not None and _not_theirs(trace.tb_frame.f_code.co_filename):
        trace = trace.tb_next
    traceback.print_exception(type(error), error, trace, file=sys.stderr)
    return Refused(f"importing {name!r} failed, see above.")


def _not_theirs(file: str) -> bool:
    return file in (__file__, imports.__file__, importlib.__file__) or file.startswith("<frozen importlib")


def _candidates(module: ModuleType) -> str:
    apps = [name for name, value in vars(module).items() if isinstance(value, Klokka)]
    if not apps:
        return f"It holds no Klokka app: make one there, app = klokka.Klokka(…), and name it {module.__name__}:app."
    return "Did you mean " + " or ".join(f"{module.__name__}:{name}" for name in apps) + "?"
