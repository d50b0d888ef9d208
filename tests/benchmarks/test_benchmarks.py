"""Every benchmark runs, in a small size and without others' software. What it measures is not judged here."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from benchmarks.catalogue import BENCHMARKS, Benchmark
from benchmarks.report import as_json, table
from benchmarks.rounds import Outcome, Size

from tests.support.postgres import database, url_of

ROOT = Path(__file__).parents[2]

RUNS = [(name, store) for name, benchmark in BENCHMARKS.items() for store in benchmark.stores if name != "import"]


def run(name: str, store: str, where: Path) -> Any:
    sizes = ["--jobs", "20", "--seconds", "0.2", "--rounds", "1", "--where", str(where)]
    command = [sys.executable, "-m", "benchmarks", name, "--store", store, *sizes, "--no-peers", "--json", "-"]
    environment = {**os.environ, "KLOKKA_BENCHMARK_POSTGRES": url_of(database("postgres"))}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize(("name", "store"), [*RUNS, ("import", "memory")])
def test_a_benchmark_tells_a_figure_for_each_of_its_bars(name: str, store: str, tmp_path: Path) -> None:
    [told] = run(name, store, tmp_path)

    assert list(told["rounds"]) == list(BENCHMARKS[name].contenders)
    assert all(len(bar["values"]) == 1 for bar in told["bars"])
    assert len(told["bars"]) == sum(bar.over not in BENCHMARKS[name].peers for bar in BENCHMARKS[name].bars)
    assert list(tmp_path.iterdir()) == []


def outcome(benchmark: Benchmark, **rounds: tuple[float, ...]) -> Outcome:
    return Outcome(
        benchmark=benchmark,
        store="sqlite",
        size=Size(jobs=10, seconds=0, rounds=3, python=sys.executable),
        rounds={
            name: tuple({"jobs/s": value, "jobs/cpu-s": value} for value in values) for name, values in rounds.items()
        },
    )


def test_a_ratio_is_taken_within_its_round_and_its_median_is_what_counts() -> None:
    seen = outcome(BENCHMARKS["drain"], klokka_drain=(10.0, 50.0, 30.0), bare_drain=(20.0, 100.0, 100.0))

    [told] = as_json([seen])

    assert told["bars"][0]["values"] == [0.5, 0.5, 0.3]
    assert told["bars"][0]["reached"] is True


def test_the_table_says_which_bar_is_missed_and_leaves_out_who_took_no_part() -> None:
    seen = outcome(BENCHMARKS["drain"], klokka_drain=(10.0, 10.0, 30.0), bare_drain=(100.0, 100.0, 100.0))

    text = table(seen)

    assert "MISSED: at least 0.40" in text
    assert "huey" not in text
