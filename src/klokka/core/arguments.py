"""The door for arguments of the wrong class: Python would refuse them later, in words that name none of them."""

from collections.abc import Callable
from typing import Any

from klokka.core.names import shown
from klokka.errors import InvalidInput


def of_class(what: str, value: object, wanted: type | tuple[type, ...], hint: str) -> None:
    """Returns if `value` is of a wanted class; `hint` says what to give instead.

    Raises:
        InvalidInput: it is not.
    """
    if not isinstance(value, wanted):
        raise InvalidInput(f"{what} cannot be {shown(value)}. {hint}")


def count(what: str, value: int, least: int = 1) -> int:
    """`value`, if it is a whole number of `least` or more.

    Raises:
        InvalidInput: it is not.
    """
    if type(value) is not int:  # True is one to isinstance
        raise InvalidInput(f"{what} cannot be {shown(value)}. Give a whole number of {least} or more.")
    if value < least:
        raise InvalidInput(f"{what} must be {least} or more, not {value}.")
    return value


def can_be_called(what: str, value: Callable[..., Any], hint: str) -> None:
    """Returns if `value` can be called; `hint` says what to give instead.

    Raises:
        InvalidInput: it cannot.
    """
    if not callable(value):
        raise InvalidInput(f"{what} cannot be {shown(value)}. {hint}")
