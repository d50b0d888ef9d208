"""Runs all checks on one of our right stores again and again, and counts false alarms.

`python -m tests.tck.hundred --runs 100 --store sqlite`. The deep run on a bad network is
`--store rough-postgres --only history`.
"""

import argparse
import sys
import time

from klokka.tck.campaign import conduct, new_seed
from klokka.tck.choice import chosen
from klokka.tck.report import Failed
from tests.support.subjects import FACTORIES, rough_postgres_factory

STORES = FACTORIES | {"rough-postgres": rough_postgres_factory}


def false_alarms(store: str, *, runs: int, seed: int, only: tuple[str, ...] = ()) -> list[Failed]:
    """The failures of so many runs, each with the next seed."""
    alarms: list[Failed] = []
    for run in range(runs):
        begun = time.monotonic()
        report = conduct(STORES[store], chosen(only), seed=seed + run)
        alarms += report.failed
        print(f"{store}, run {run + 1} of {runs}, seed {seed + run}: {len(report.passed)} passed, ", end="")
        print(f"{len(report.failed)} false alarms, {time.monotonic() - begun:.0f} s", flush=True)
        for failed in report.failed:
            print(failed, flush=True)
    return alarms


def main() -> int:
    """What the command line asks for; 1 if there was an alarm."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--store", choices=sorted(STORES), default="memory")
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--only", action="append", default=[])
    given = parser.parse_args()
    seed = new_seed() if given.seed is None else given.seed
    alarms = false_alarms(given.store, runs=given.runs, seed=seed, only=tuple(given.only))
    print(f"{given.runs} runs, {len(alarms)} false alarms")
    return 1 if alarms else 0


if __name__ == "__main__":
    sys.exit(main())
