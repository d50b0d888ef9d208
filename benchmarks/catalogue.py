"""What is measured: who runs, what each run tells, and which ratios are the goal."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """The goal for a figure of Klokka's: for its ratio to `over`'s in the same round, or by itself."""

    figure: str
    over: str | None = None
    at_least: float | None = None
    at_most: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Benchmark:
    """`contenders` are modules of `benchmarks.contenders`, the first one Klokka's; `peers` are scripts of others."""

    name: str
    about: str
    contenders: tuple[str, ...]
    bars: tuple[Bar, ...]
    peers: tuple[str, ...] = ()
    stores: tuple[str, ...] = ("sqlite", "memory")
    jobs: int = 0
    seconds: float = 0.0


_ALL: Final = (
    Benchmark(
        name="drain",
        about="no-op jobs through one worker process, from its start to its end",
        contenders=("klokka_drain", "bare_drain"),
        peers=("huey",),
        stores=("sqlite",),
        bars=(
            Bar(figure="jobs/s", over="bare_drain", at_least=0.4),
            Bar(figure="jobs/s", over="huey", at_least=5.0),
            Bar(figure="jobs/cpu-s", over="bare_drain"),
        ),
        jobs=50_000,
    ),
    Benchmark(
        name="drain-alone",
        about="the same without anything beside it: what the worker itself costs",
        contenders=("klokka_drain",),
        bars=(),
        stores=("memory",),
        jobs=50_000,
    ),
    Benchmark(
        name="enqueue",
        about="jobs in calls of 1,000, and one at a time",
        contenders=("klokka_enqueue", "bare_enqueue"),
        stores=("sqlite",),
        bars=(
            Bar(figure="bulk jobs/s", over="bare_enqueue", at_least=1 / 3),
            Bar(figure="single jobs/s", over="bare_enqueue"),
        ),
        jobs=50_000,
    ),
    Benchmark(
        name="drain-postgres",
        about="no-op jobs through one worker process, from its start to its end",
        contenders=("klokka_drain", "bare_postgres_drain"),
        peers=("pgqueuer",),
        stores=("postgres",),
        bars=(
            Bar(figure="jobs/s", over="pgqueuer", at_least=1.5),
            Bar(figure="jobs/s", over="bare_postgres_drain"),
            Bar(figure="jobs/cpu-s", over="pgqueuer"),
        ),
        jobs=50_000,
    ),
    Benchmark(
        name="enqueue-postgres",
        about="jobs in calls of 1,000, and one at a time",
        contenders=("klokka_enqueue", "bare_postgres_enqueue"),
        stores=("postgres",),
        bars=(
            Bar(figure="bulk jobs/s", over="bare_postgres_enqueue", at_least=0.5),
            Bar(figure="single jobs/s", over="bare_postgres_enqueue"),
        ),
        jobs=50_000,
    ),
    Benchmark(
        name="snapshot-postgres",
        about="no-op jobs after five times as many, all of them beside a snapshot that stays open",
        contenders=("klokka_beside_snapshot", "klokka_without_snapshot"),
        stores=("postgres",),
        bars=(Bar(figure="jobs/s", over="klokka_without_snapshot", at_least=0.8),),
        jobs=20_000,
    ),
    Benchmark(
        name="latency",
        about="from before the enqueue in one process to the start of the handler in another, idle one",
        contenders=("klokka_latency",),
        stores=("sqlite",),
        bars=(Bar(figure="median ms", at_most=5.0), Bar(figure="p99 ms")),
        jobs=200,
    ),
    Benchmark(
        name="latency-postgres",
        about="from before the enqueue in one process to the start of the handler in another, idle one",
        contenders=("klokka_latency", "bare_postgres_latency"),
        stores=("postgres",),
        bars=(
            Bar(figure="median ms", at_most=5.0),
            Bar(figure="median ms", over="bare_postgres_latency"),
            Bar(figure="p99 ms", over="bare_postgres_latency"),
        ),
        jobs=200,
    ),
    Benchmark(
        name="idle",
        about="a worker with nothing to do",
        contenders=("klokka_idle",),
        bars=(Bar(figure="% of a core", at_most=1.0), Bar(figure="transactions/s", at_most=1.0)),
        stores=("sqlite",),
        seconds=20.0,
    ),
    Benchmark(
        name="import",
        about="a fresh interpreter that imports and ends",
        contenders=("importing",),
        bars=(
            Bar(figure="klokka ms", at_most=150.0),
            Bar(figure="klokka.Klokka ms", at_most=150.0),
            Bar(figure="klokka.Klokka cpu-ms"),
        ),
    ),
    Benchmark(
        name="memory",
        about="what is held after all jobs more than after half of them, when SQLite has filled its page cache",
        contenders=("klokka_memory",),
        bars=(Bar(figure="traced KiB more", at_most=512.0), Bar(figure="resident MiB more", at_most=8.0)),
        jobs=200_000,
    ),
)

BENCHMARKS: Final[Mapping[str, Benchmark]] = {benchmark.name: benchmark for benchmark in _ALL}
