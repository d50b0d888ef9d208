"""Which checks a run is about: all, or those of a clause, a group or a name."""

import difflib
from collections.abc import Iterable

from klokka.errors import InvalidInput
from klokka.tck.check import Check
from klokka.tck.checks import every_check
from klokka.tck.levels import LEVELS


def chosen(only: Iterable[str] = ()) -> list[Check]:
    """The checks that `only` names, in the order of all; all if it names nothing.

    A name is a clause (`claim.due`), the first word of clauses (`claim`), a level (`core`), a layer (`history`), a
    group of checks (`claim_order`) or a check (`claim.nothing_is_given_before_its_time`).

    Raises:
        InvalidInput: a name is none of these.
    """
    checks = every_check()
    names = list(only)
    if not names:
        return checks
    wanted = {check.id for name in names for check in _named(name.strip("[]"), checks)}
    return [check for check in checks if check.id in wanted]


def _named(name: str, checks: list[Check]) -> list[Check]:
    found = [check for check in checks if name in _names_of(check)]
    if not found:
        known = sorted({each for check in checks for each in _names_of(check)})
        near = difflib.get_close_matches(name, known, n=3)
        hint = f"Did you mean {' or '.join(near)}?" if near else "Name a clause such as claim.due or a group."
        raise InvalidInput(f"no check is of {name!r}. {hint}")
    return found


def _names_of(check: Check) -> set[str]:
    levels = {level.name for level in LEVELS for clause in check.clauses if level.has(clause)}
    words = {clause.partition(".")[0] for clause in check.clauses}
    return {check.id, check.name, check.group, check.layer, *check.clauses, *words, *levels}
