"""The hunt for a play that breaks a clause."""

import asyncio
from contextlib import suppress
from datetime import timedelta
from typing import Final

from hypothesis import HealthCheck, Phase, Verbosity, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from klokka.tck.bench import Bench
from klokka.tck.capabilities import Lacking
from klokka.tck.crowds import in_thread
from klokka.tck.machine.play import Play
from klokka.tck.machine.stage import Enough, Hunt
from klokka.tck.violations import Violation

_BATCH: Final = 4
"""Plays that Hypothesis draws from one seed. Of many it makes most by varying a few, which finds less here."""


async def hunt(bench: Bench, sort: type[Play], *, plays: int, steps: int, shrinks: int, within: timedelta) -> int:
    """How many plays were right: about `plays` of them, always as many for one seed, unless time cuts them short.

    Up to `shrinks` more make a failure shorter.

    Raises:
        Violation: of the shortest play that was not, with its script.
        Lacking: the clock does not stand still.
    """
    before = await bench.store.now()
    await asyncio.sleep(0.002)
    if await bench.store.now() != before:
        raise Lacking("the clock that the factory advances goes on by itself, and a model knows no such time")
    hunting = Hunt(
        bench=bench,
        loop=asyncio.get_running_loop(),
        shrinks=shrinks,
        within=within.total_seconds(),
    )
    try:
        await in_thread(lambda: _search(hunting, sort, plays, steps))
    finally:
        hunting.stopped.set()
    if hunting.cut:
        bench.cut_short(f"{hunting.plays} plays of {plays} in {within.total_seconds():g} s")
    if hunting.violation is not None:
        raise hunting.violation
    return hunting.plays


def _search(hunting: Hunt, sort: type[Play], plays: int, steps: int) -> None:
    """Plays until one breaks a clause and is as short as it gets, or until there is no more to spend."""

    def begin() -> Play:
        return sort(hunting)

    how = settings(
        max_examples=_BATCH,
        stateful_step_count=steps,
        database=None,
        deadline=None,
        phases=(Phase.generate, Phase.shrink),
        report_multiple_bugs=False,
        suppress_health_check=(HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much),
        verbosity=Verbosity.quiet,
    )
    with suppress(Enough, Violation):
        while hunting.plays < plays:
            batch = seed(hunting.bench.seed + hunting.plays)(begin)
            run_state_machine_as_test(batch, settings=how)  # type: ignore[arg-type]
