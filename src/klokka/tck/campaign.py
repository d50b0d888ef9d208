"""A run of the kit from outside of any event loop: the door, then every check under the watchdog, once or for minutes."""

import secrets
import time
from collections.abc import Callable, Iterable, Iterator
from datetime import timedelta
from typing import Final

from klokka.tck.check import Check
from klokka.tck.door import Unfit, examine
from klokka.tck.endings import HOPELESS_AT_MOST, Escaped, Hopeless
from klokka.tck.report import Failed, Report, Result, Store
from klokka.tck.run import BOUND
from klokka.tck.subject import Factory
from klokka.tck.watchdog import Blocked, Watched, watched

GIVEN_UP: Final = (
    f"{HOPELESS_AT_MOST} checks came to no end, or got no store. Mend that first, or leave them out with --only."
)


def new_seed() -> int:
    """A seed that fits into a command line."""
    return secrets.randbelow(10**9)


def examined(factory: Factory) -> Store:
    """What the store of the factory says of itself; see `door.examine`.

    Raises:
        Unfit: or `Unreachable`: nothing can be tried.
    """
    try:
        return Watched(lambda: examine(factory)).result(4 * BOUND)
    except Blocked as where:
        raise Unfit(f"factory or store block the event loop; every wait in them must be awaited. At\n{where}") from None
    except Escaped as error:
        raise Unfit(
            f"factory or store raised {error}. What is no Exception ends the interpreter; raise one."
        ) from error


def conduct(
    factory: Factory,
    checks: Iterable[Check],
    *,
    seed: int,
    soak: timedelta = timedelta(0),
    bound: timedelta = BOUND,
    told: Callable[[Result], None] = lambda _: None,
) -> Report:
    """Looks at what the factory gives and runs the checks, round after round until `soak` is over; once at least.

    Each further round has the next seed. `told` hears each result when it is there.

    Raises:
        Unfit: nothing can be tried; see `door.examine`.
    """
    begun = time.monotonic()
    store = examined(factory)
    rounds = Rounds(factory, list(checks), seed=seed, until=begun + soak.total_seconds(), bound=bound)
    results: list[Result] = []
    for result in rounds.results():
        told(result)
        results.append(result)
    seconds = time.monotonic() - begun
    return Report(
        results=results, seed=seed, rounds=rounds.number, seconds=seconds, store=store, given_up=rounds.given_up
    )


class Rounds:
    """All checks, again and again until a time has come.

    Given up when too many checks have ended without hope: each takes its whole time, and may leave a thread behind.
    """

    def __init__(self, factory: Factory, checks: list[Check], *, seed: int, until: float, bound: timedelta) -> None:
        self._factory = factory
        self._checks = checks
        self._seed = seed
        self._until = until
        self._bound = bound
        self.number = 0
        self.given_up: str | None = None

    def results(self) -> Iterator[Result]:
        """One after another, as they come."""
        hopeless = 0
        while self.number == 0 or time.monotonic() < self._until:
            seed = self._seed + self.number
            self.number += 1
            for check in self._checks:
                if self.number > 1 and time.monotonic() >= self._until:
                    return
                result = watched(check, self._factory, seed=seed, bound=self._bound)
                yield result
                hopeless += isinstance(result, Failed) and isinstance(result.error, Hopeless)
                if hopeless >= HOPELESS_AT_MOST:
                    self.given_up = GIVEN_UP
                    return
