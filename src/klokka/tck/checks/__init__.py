"""The checks, one module for each group of clauses."""

from importlib import import_module
from pkgutil import iter_modules

from klokka.tck.check import CHECKS, Check


def every_check() -> list[Check]:
    """All checks, by group and in the order in which they are written."""
    for module in sorted(iter_modules(__path__), key=lambda found: found.name):
        import_module(f"{__name__}.{module.name}")
    return sorted(CHECKS.values(), key=lambda check: check.group)  # whichever module was imported first
