"""Runs checks, each on fresh data and for a bounded time, and reports what came of it."""

import asyncio
import hashlib
import time
from collections.abc import Iterable
from contextlib import suppress
from datetime import timedelta
from typing import Final

from klokka.tck.bench import Bench
from klokka.tck.capabilities import Lacking
from klokka.tck.check import Check
from klokka.tck.checks import every_check
from klokka.tck.endings import Endless, Unfinished, Ungiven, because, is_callers
from klokka.tck.report import Failed, Passed, Report, Result, Skipped
from klokka.tck.subject import Factory
from klokka.tck.violations import Violation

BOUND: Final = timedelta(seconds=60)


def seed_for(check: Check, seed: int) -> int:
    """The seed of one check in a run with this seed: the same in every process, and for every choice of checks."""
    digest = hashlib.blake2b(f"{seed}:{check.id}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big")


async def run(
    factory: Factory, *, checks: Iterable[Check] | None = None, seed: int = 0, bound: timedelta = BOUND
) -> Report:
    """Runs `checks`, or all there are, one after another. A failed check does not stop the others."""
    chosen = every_check() if checks is None else checks
    return Report(results=[await run_check(check, factory, seed=seed, bound=bound) for check in chosen], seed=seed)


async def run_check(check: Check, factory: Factory, *, seed: int = 0, bound: timedelta = BOUND) -> Result:
    """Runs one check on fresh data, with the seed of the run.

    Never raises for what the factory or the store does; `bound` is for each phase. A store that blocks the event loop
    blocks this too; `watchdog.watched` sees that.
    """
    limit = bound.total_seconds()
    begun = time.monotonic()
    try:
        giving = factory()
        async with asyncio.timeout(limit):
            subject = await giving.__aenter__()
    except TimeoutError:
        return Failed(check=check, seed=seed, error=Ungiven(f"the factory gave no subject within {limit:g} s."))
    except BaseException as error:
        if is_callers(error):
            raise
        raised = because("the factory raised before it gave a subject", error, Ungiven)
        return Failed(check=check, seed=seed, error=raised)

    result = await _proved(check, Bench(subject, factory=factory, seed=seed_for(check, seed)), seed, limit, begun)

    try:
        async with asyncio.timeout(limit):
            await giving.__aexit__(None, None, None)
    except TimeoutError:
        return _worse(result, Ungiven(f"the factory did not end within {limit:g} s."))
    except BaseException as error:
        if is_callers(error):
            raise
        return _worse(result, because("the factory raised when it ended", error, Ungiven))
    return result


async def _proved(check: Check, bench: Bench, seed: int, limit: float, begun: float) -> Result:
    def failed(error: Exception) -> Failed:
        seconds = time.monotonic() - begun
        journal, calls = bench.journal.last(), bench.journal.count
        return Failed(check=check, error=error, seconds=seconds, seed=seed, journal=journal, calls=calls)

    lacking = check.lacking(bench)
    if lacking is not None:
        return Skipped(check=check, reason=lacking, seed=seed)
    try:
        async with asyncio.timeout(limit):
            await bench.open()
            await check.run(bench)
        async with asyncio.timeout(limit):
            await bench.close()
    except Lacking as reason:
        return Skipped(check=check, reason=str(reason), seed=seed)
    except Violation as violation:
        return failed(violation)
    except TimeoutError:
        return failed(Endless(f"no end within {limit:g} s, where every wait is bounded."))
    except BaseException as error:
        if is_callers(error):
            raise
        return failed(because("the store raised where the contract promises a result", error))
    finally:
        await _abandon(bench, limit)
    return Passed(check=check, seconds=time.monotonic() - begun, seed=seed, shortened=bench.shortened)


async def _abandon(bench: Bench, limit: float) -> None:
    """Closes what a check that did not come to its end has left open; closing twice is legal [life.open]."""
    with suppress(Exception):
        async with asyncio.timeout(limit):
            await bench.close()


def _worse(result: Result, error: Unfinished) -> Failed:
    return result if isinstance(result, Failed) else Failed(check=result.check, error=error, seed=result.seed)
