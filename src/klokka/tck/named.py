"""A factory by its name, `module:factory`."""

import functools
from difflib import get_close_matches
from typing import Any, cast

from klokka.core.imports import NoSuchModule, import_named
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
    try:
        module = import_named(module_name)
    except NoSuchModule as error:
        raise Unfit(str(error)) from error
    except (Exception, SystemExit) as error:
        raise Unfit(f"importing {module_name!r} failed: {type(error).__name__}: {error}") from error
    try:
        factory: Any = functools.reduce(getattr, path.split("."), module)
    except AttributeError as error:
        near = get_close_matches(path, vars(module), n=1)
        hint = f" Did you mean {module_name}:{near[0]}?" if near else ""
        raise Unfit(f"module {module_name!r} has no {path!r}.{hint}") from error
    if not callable(factory):
        raise Unfit(f"{name} is no factory but a {type(factory).__name__}. A factory is called for each check.")
    return cast(Factory, factory)


def _is_dotted(path: str) -> bool:
    return all(part.isidentifier() for part in path.split("."))
