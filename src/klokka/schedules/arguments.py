"""The door of this room: whatever is wrong with an argument of a schedule, its class included, is one error."""

from klokka.core.names import shown
from klokka.errors import InvalidSchedule


def of_class(what: str, value: object, wanted: type | tuple[type, ...], hint: str) -> None:
    """Returns if `value` is of a wanted class; `hint` says what to give instead.

    Raises:
        InvalidSchedule: it is not.
    """
    if not isinstance(value, wanted):
        raise InvalidSchedule(f"{what} cannot be {shown(value)}. {hint}")


def whole(what: str, number: object, low: int, high: int) -> int:
    """`number`, if it is a whole one in `low` to `high`.

    Raises:
        InvalidSchedule: it is not.
    """
    if not isinstance(number, int) or isinstance(number, bool) or not low <= number <= high:
        raise InvalidSchedule(f"{what} {shown(number)} is not a whole number in {low:,} to {high:,}.")
    return number
