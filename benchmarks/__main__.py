"""python -m benchmarks NAME… [--store sqlite|postgres|memory] [--rounds 5] [--jobs N] [--json FILE]; see docs/benchmarks.md."""

import argparse
import json
import sys
import tempfile
from pathlib import Path

from benchmarks.catalogue import BENCHMARKS
from benchmarks.peers import interpreters
from benchmarks.places import Places
from benchmarks.report import as_json, table
from benchmarks.rounds import Size, run


def main() -> None:
    given = _parser().parse_args()
    chosen = [BENCHMARKS[name] for name in given.names or BENCHMARKS if given.store in BENCHMARKS[name].stores]
    if not chosen:
        sys.exit(f"none of these runs on {given.store}: {', '.join(given.names)}")
    peers = interpreters({name for benchmark in chosen for name in benchmark.peers}) if given.peers else {}
    outcomes = []
    with Places(Path(given.where or tempfile.gettempdir())) as places:
        for benchmark in chosen:
            size = Size(
                jobs=given.jobs or benchmark.jobs,
                seconds=given.seconds or benchmark.seconds,
                rounds=given.rounds,
                python=given.python,
            )
            outcome = run(benchmark, given.store, size, peers, places, say=lambda text: print(text, file=sys.stderr))
            outcomes.append(outcome)
            if given.json != "-":
                print(table(outcome), flush=True)
    if given.json == "-":
        print(json.dumps(as_json(outcomes), indent=2))
    elif given.json:
        Path(given.json).write_text(json.dumps(as_json(outcomes), indent=2) + "\n", encoding="utf-8")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measures Klokka, in ratios of one run.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(BENCHMARKS)}; all without one")
    parser.add_argument("--store", default="sqlite", choices=("sqlite", "memory", "postgres"))
    parser.add_argument("--rounds", type=int, default=5, help="every contender runs once in each")
    parser.add_argument("--jobs", type=int, help="how many, where it is jobs that are counted")
    parser.add_argument("--seconds", type=float, help="how long, where it is time that passes")
    parser.add_argument("--where", metavar="FOLDER", help="where files are made; its disk is what is measured")
    parser.add_argument("--python", default=sys.executable, help="whose imports are measured; ours without it")
    parser.add_argument("--json", metavar="FILE", help="the figures of every round; - prints them in place of tables")
    parser.add_argument("--no-peers", dest="peers", action="store_false", help="installs and runs nobody else's")
    return parser


if __name__ == "__main__":
    main()
