"""The contract in words: the text of each clause, as it stands at the verb that it binds."""

import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Final

import klokka.spi as contract

_ID: Final = re.compile(r"\[([a-z]+\.[a-z-]+)\]")
_BEGIN: Final = re.compile(r"^(?=\[[a-z]+\.[a-z-]+\])", re.MULTILINE)


@cache
def texts() -> Mapping[str, str]:
    """The text of every clause by its id; empty where Python runs without docstrings."""
    found: dict[str, str] = {}
    for paragraph in _paragraphs():
        whole = " ".join(_ID.sub("", paragraph).split()).replace(" .", ".").replace(" ,", ",")
        for statement in _BEGIN.split(paragraph):
            ids = _ID.findall(statement)
            own = " ".join(_ID.sub("", statement).split()).replace(" .", ".").replace(" ,", ",")
            for clause in ids:
                if _ID.match(statement):
                    found[clause] = own
                else:
                    found.setdefault(clause, own or whole)
    return found


def text_of(clause: str) -> str:
    """The clause's own words, or where to read them."""
    return texts().get(clause, "see docs/contract.md")


def _paragraphs() -> Iterator[str]:
    for docstring in _docstrings():
        yield from re.split(r"\n\s*\n", docstring)


def _docstrings() -> Iterator[str]:
    for module in pkgutil.iter_modules(contract.__path__):
        for value in vars(importlib.import_module(f"{contract.__name__}.{module.name}")).values():
            if inspect.isclass(value) and value.__module__.startswith(contract.__name__):
                for documented in (value, *vars(value).values()):
                    yield inspect.cleandoc(getattr(documented, "__doc__", None) or "")
