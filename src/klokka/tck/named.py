"""A factory by its name, `module:factory`."""

import functools
import importlib
import sys
from pathlib import Path
from typing import Any, cast

from klokka.tck.door import Unfit
from klokka.tck.subject import Factory


def factory_named(name: str) -> Factory:
    """The factory that `name` names, with the current folder importable.

    Raises:
        Unfit: the name has another form, its module fails, or it names nothing that can be called.
    """
    module_name, colon, path = name.partition(":")
    if not (colon and _is_dotted(module_name) and _is_dotted(path)):
        raise Unfit(f"{name!r} names no factory. Write it as module:factory, such as my_store.kit:fresh_store.")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        module = importlib.import_module(module_name)
    except (Exception, SystemExit) as error:
        raise Unfit(f"importing {module_name!r} failed: {type(error).__name__}: {error}") from error
    try:
        factory: Any = functools.reduce(getattr, path.split("."), module)
    except AttributeError as error:
        raise Unfit(f"module {module_name!r} has no {path!r}.") from error
    if not callable(factory):
        raise Unfit(f"{name} is no factory but a {type(factory).__name__}. A factory is called for each check.")
    return cast(Factory, factory)


def _is_dotted(path: str) -> bool:
    return all(part.isidentifier() for part in path.split("."))
