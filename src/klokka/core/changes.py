"""What a change of state may ask for, checked in one place before any store looks at the job."""

from datetime import timedelta

from klokka.core.instants import aware, check_plan
from klokka.core.records import Change
from klokka.core.states import Failed, Running, Scheduled, State, time_of
from klokka.errors import InvalidInput, InvalidTime


def check_change(change: Change) -> None:
    """Returns if a store may compare and set `change`; whether the edge is legal is not judged here.

    Raises:
        InvalidInput: `to` is Running [transition.any-edge], `refund` lacks its conditions [transition.refund].
        InvalidTime: `to` lacks its time [transition.times], a time is naive, or `from_` has a duration.
    """
    if isinstance(change.to, Running):
        raise InvalidInput("A transition cannot lead to Running: only `claim` makes a job run.")
    if change.refund and not (isinstance(change.from_, Running) and change.fence is not None):
        raise InvalidInput("refund=True needs from_=Running() and the fence of the claim that it takes back.")
    _check_target(change.to)
    _check_origin(change.from_)


def _check_target(to: State) -> None:
    when = time_of(to)
    if when is not None:
        check_plan(_field(to), when)
    elif isinstance(to, Scheduled | Failed):
        raise InvalidTime(f"{type(to).__name__} as a target needs its time, such as {_field(to)}=timedelta(minutes=5).")


def _check_origin(from_: State) -> None:
    when = time_of(from_)
    if isinstance(when, timedelta):
        raise InvalidTime(f"{type(from_).__name__} in from_ has a duration. Compare an instant, or leave the time out.")
    if when is not None:
        aware(when, _field(from_))


def _field(state: State) -> str:
    return "retry_at" if isinstance(state, Failed) else "at"
