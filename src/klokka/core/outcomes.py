"""What a handler may say besides returning: values, not exceptions, since they are no failures."""

import inspect
from dataclasses import dataclass
from datetime import timedelta

from klokka.core.arguments import of_class
from klokka.core.instants import positive


@dataclass(frozen=True, slots=True)
class Snooze:
    """Runs the job again after `delay`, without charging an attempt [transition.refund]."""

    delay: timedelta

    def __post_init__(self) -> None:
        positive(self.delay, "Snooze delay")


@dataclass(frozen=True, slots=True)
class Cancel:
    """Ends the job as cancelled; `reason` is kept as its last error, of type `Cancel`."""

    reason: str = ""

    def __post_init__(self) -> None:
        of_class("the reason of a Cancel", self.reason, str, "Give a text.")


Outcome = Snooze | Cancel | None
"""None is done."""


def check_ran(returned: object) -> None:
    """Returns if what a handler returned does not show that its body never ran.

    It shows that where a sync wrapper returns the coroutine of the async function that it wraps. All else is done.

    Raises:
        TypeError: it is a coroutine or a generator.
    """
    if inspect.iscoroutine(returned):
        returned.close()  # Python's own warning would say less than this error
    elif not (inspect.isgenerator(returned) or inspect.isasyncgen(returned)):
        return
    raise TypeError(
        f"the handler returned a {type(returned).__name__}, which nobody runs. Await or iterate in the handler itself."
    )
