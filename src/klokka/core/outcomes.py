"""What a handler may say besides returning: values, not exceptions, since they are no failures."""

from dataclasses import dataclass
from datetime import timedelta

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


Outcome = Snooze | Cancel | None
"""None is done."""
