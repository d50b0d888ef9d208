"""Rounds: every contender once in each, so that whatever the machine does meanwhile it does to all of them."""

import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.catalogue import Benchmark
from benchmarks.places import Places

ROOT = Path(__file__).parents[1]

Figures = Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How much of it."""

    jobs: int
    seconds: float
    rounds: int
    python: str
    """The interpreter whose imports are measured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The figures of each contender, one mapping for each round."""

    benchmark: Benchmark
    store: str
    size: Size
    rounds: Mapping[str, tuple[Figures, ...]]


def run(
    benchmark: Benchmark,
    store: str,
    size: Size,
    peers: Mapping[str, Path],
    places: Places,
    say: Callable[[str], None],
) -> Outcome:
    """All rounds of one benchmark. `peers` are the interpreters of those that take part, by name."""
    commands = {name: [sys.executable, "-m", f"benchmarks.contenders.{name}"] for name in benchmark.contenders}
    for name in benchmark.peers:
        if name in peers:
            commands[name] = [str(peers[name]), str(ROOT / "benchmarks" / "peers" / f"{name}_run.py")]
    figures: dict[str, list[Figures]] = {name: [] for name in commands}
    for number in range(1, size.rounds + 1):
        for name, command in commands.items():
            figures[name].append(_one(command, store, size, places))
            say(f"{benchmark.name} round {number}: {name} {_short(figures[name][-1])}")
    return Outcome(
        benchmark=benchmark,
        store=store,
        size=size,
        rounds={name: tuple(each) for name, each in figures.items()},
    )


def _one(command: list[str], store: str, size: Size, places: Places) -> Figures:
    """One run in a process and a place of its own; its last line is its figures."""
    with places.fresh(store) as place:
        options = {
            "url": place.url,
            "path": place.path,
            "jobs": size.jobs,
            "seconds": size.seconds,
            "python": size.python,
        }
        done = subprocess.run([*command, json.dumps(options)], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} failed:\n{done.stderr}")
    figures: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return figures


def _short(figures: Figures) -> str:
    return ", ".join(f"{value:,.4g} {name}" for name, value in figures.items())
