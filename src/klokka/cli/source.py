"""Which store or app a command works on: what was named nearest to it."""

import os
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar, cast

import click

from klokka.cli.exits import Refused
from klokka.spi.store import JobStore

T = TypeVar("T")

_PASSWORD: Final = re.compile(r"^([^/]*//[^:@/]*:).*@", re.DOTALL)
_QUERY_PASSWORD: Final = re.compile(r"([?&][^=&]*(?:password|secret|token)[^=&]*=)[^&]*", re.IGNORECASE)
_NOWHERE: Final = (
    "no store is named. Give --store URL or --app module:object, or set KLOKKA_STORE or KLOKKA_APP, or write\n"
    '  [tool.klokka]\n  app = "module:object"   # or: store = "sqlite:///jobs.db"\n'
    "into pyproject.toml of this folder."
)

_NO_APP: Final = (
    "no app is named. Name it as module:object, such as jobs:app, or set KLOKKA_APP, or write\n"
    '  [tool.klokka]\n  app = "module:object"\n'
    "into pyproject.toml of this folder."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where the store comes from: a URL or an app, whichever was named nearest to the command."""

    store_url: str | None
    app: str | None

    def store(self) -> JobStore:
        """The store, unopened.

        Raises:
            UnknownStore, InvalidInput: the URL is wrong.
            Refused: the app cannot be imported.
        """
        if self.store_url is not None:
            from klokka.stores.open import open_store

            return open_store(self.store_url)
        from klokka.cli.apps import load_app

        return load_app(self.app or "").store

    @property
    def spelled(self) -> str:
        """The source as it may be shown: a password in a URL is left out."""
        return self.app or "" if self.store_url is None else without_password(self.store_url)


def store_options(command: Callable[..., T]) -> Callable[..., T]:
    """Gives a command or group `--store` and `--app`. Both are kept on the context for `source`."""
    for name, shape, text in (
        ("app", "MODULE:OBJECT", "The app whose store is meant."),
        ("store", "URL", "The store, such as sqlite:///jobs.db."),
    ):
        command = click.option(f"--{name}", metavar=shape, help=text, expose_value=False, callback=_keep)(command)
    return command


def source() -> Source:
    """What was named nearest: by the command, before it, in the environment, in pyproject.toml.

    The environment and pyproject.toml may name both; then the store is taken.

    Raises:
        Refused: nothing is named.
    """
    found = _found()
    if found is None:
        raise Refused(_NOWHERE)
    return found


def _found() -> Source | None:
    environment = {"store": os.environ.get("KLOKKA_STORE"), "app": os.environ.get("KLOKKA_APP")}
    return _on_the_line() or _one(environment, "KLOKKA_{}") or _one(_pyproject(), "[tool.klokka] {}")


def _on_the_line() -> Source | None:
    """What the command, or the group before it, was given as options."""
    context: click.Context | None = click.get_current_context()
    while context is not None:
        named = context.meta.get(_place(context), {})
        if len(named) > 1:
            raise click.UsageError("--store and --app say the same thing twice. Give one of them.")
        if (found := _one(named, "--{}")) is not None:
            return found
        context = context.parent
    return None


def app_alone(argument: str | None) -> str:
    """The app of a command that works on the store of its app: the argument, else what `source` names.

    Raises:
        UsageError: an option names a store or an app that would go unheard.
        Refused: none is named, or a store alone.
    """
    named = _on_the_line()
    if named is not None and named.store_url is not None:
        raise click.UsageError("--store goes unheard here: this works on the store of its app. Leave it out.")
    if named is not None and argument is not None:
        raise click.UsageError("--app and MODULE:OBJECT say the same thing twice. Give one of them.")
    if argument is None and _found() is None:
        raise Refused(_NO_APP)
    return configured_app() if argument is None else argument


def configured_app() -> str:
    """The app that `source` names.

    Raises:
        Refused: none is named, or a store alone.
    """
    found = source().app
    if found is None:
        raise Refused("a store alone is named, and this needs an app. Name it as module:object, such as jobs:app.")
    return found


def without_password(url: str) -> str:
    """`url` with stars for each password in it, also for one in its query."""
    return _QUERY_PASSWORD.sub(r"\1***", _PASSWORD.sub(r"\1***@", url, count=1))


def _keep(context: click.Context, parameter: click.Parameter, value: str | None) -> None:
    if value is not None and parameter.name is not None:
        context.meta.setdefault(_place(context), {})[parameter.name] = value


def _place(context: click.Context) -> str:
    """Contexts share one `meta`, so each level has its own name in it."""
    return f"klokka.cli.source.{context.command_path}"


def _one(named: Mapping[str, Any], place: str) -> Source | None:
    store, app = named.get("store") or None, named.get("app") or None
    for name, value in (("store", store), ("app", app)):
        if value is not None and not isinstance(value, str):
            raise Refused(f"{place.format(name)} is {value!r}, and must be a text in quotes.")
    if store is None and app is None:
        return None
    return Source(store_url=store, app=app)


def _pyproject() -> Mapping[str, Any]:
    file = Path("pyproject.toml")
    try:
        table: Any = tomllib.loads(file.read_text(encoding="utf-8")).get("tool", {}).get("klokka", {})
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise Refused(f"{file.absolute()} cannot be read: {error}") from error
    if not isinstance(table, Mapping):
        raise Refused(f"[tool.klokka] in {file.absolute()} is no table.")
    return cast(Mapping[str, Any], table)
