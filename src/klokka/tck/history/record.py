"""What callers did and when, by a monotonic clock."""

import math
import time
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from klokka.errors import InvalidInput, StoreUnavailable, UniqueConflict, UnknownOutcome
from klokka.tck.cancellation import Interrupted, interrupted
from klokka.tck.words import call, words


class _Unknown:
    def __repr__(self) -> str:
        return "nobody knows"


UNKNOWN: Final = _Unknown()
"""The answer of a verb that was cancelled or cut: it may have happened or not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One verb of one caller. `ended` is infinite where the outcome is unknown."""

    caller: int
    verb: str
    asked: Mapping[str, Any]
    answer: Any
    begun: float
    ended: float

    @property
    def known(self) -> bool:
        return self.answer is not UNKNOWN

    def line(self, start: float) -> str:
        """As people read it."""
        until = f"{(self.ended - start) * 1000:8.2f}" if self.known else "       ?"
        times = f"{(self.begun - start) * 1000:8.2f} to {until} ms"
        return f"{times}  caller {self.caller}: {call(self.verb, self.asked)} → {words(self.answer)}"


@dataclass(slots=True)
class History:
    """All operations of a round, in the order in which they ended. Appending is safe from any thread."""

    operations: list[Operation] = field(default_factory=list[Operation])

    def note(self, caller: int, verb: str, asked: Mapping[str, Any], answer: Any, begun: float) -> None:
        """Writes down what has just ended."""
        ended = math.inf if answer is UNKNOWN else time.monotonic()
        self.operations.append(
            Operation(caller=caller, verb=verb, asked=asked, answer=answer, begun=begun, ended=ended)
        )

    async def recorded(
        self, caller: int, verb: str, asked: Mapping[str, Any], act: Awaitable[Any], *, steps: int | None = None
    ) -> Any:
        """What `act` answers, written down. With `steps` it is cancelled after so many steps of the loop.

        A conflict is an answer. What was refused has changed nothing, and is left out.
        """
        begun = time.monotonic()
        try:
            answer = await (act if steps is None else interrupted(act, steps))
        except UniqueConflict as conflict:
            answer = conflict
        except (Interrupted, UnknownOutcome):
            answer = UNKNOWN
        except (StoreUnavailable, InvalidInput):
            return None
        self.note(caller, verb, asked, answer, begun)
        return None if answer is UNKNOWN else answer
