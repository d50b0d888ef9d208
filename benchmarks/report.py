"""What was seen: medians with the least and the most, and ratios within rounds against their bars."""

from collections.abc import Sequence
from statistics import median
from typing import Any

from benchmarks.catalogue import Bar
from benchmarks.rounds import Outcome


def table(outcome: Outcome) -> str:
    """For people."""
    benchmark, size = outcome.benchmark, outcome.size
    amount = f"{size.jobs:,} jobs" if benchmark.jobs else f"{size.seconds:g} s" if benchmark.seconds else ""
    words = [benchmark.name, f"on {outcome.store}:", benchmark.about]
    lines = [
        "",
        " ".join(words),
        f"{size.rounds} rounds{f' of {amount}' if amount else ''}; median (least to most)",
        "",
    ]
    lines += [
        f"  {name:16} {figure:24} {_spread([each[figure] for each in rounds])}"
        for name, rounds in outcome.rounds.items()
        for figure in rounds[0]
    ]
    lines.append("")
    lines += [f"  {_named(bar):41} {_spread(_values(bar, outcome))}{_goal(bar, outcome)}" for bar in _bars(outcome)]
    return "\n".join(lines)


def as_json(outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
    """For programs: the figures of every round, and every bar."""
    return [
        {
            "benchmark": outcome.benchmark.name,
            "store": outcome.store,
            "jobs": outcome.size.jobs,
            "seconds": outcome.size.seconds,
            "rounds": {name: list(rounds) for name, rounds in outcome.rounds.items()},
            "bars": [
                {
                    "figure": bar.figure,
                    "over": bar.over,
                    "values": _values(bar, outcome),
                    "at_least": bar.at_least,
                    "at_most": bar.at_most,
                    "reached": _reached(bar, outcome),
                }
                for bar in _bars(outcome)
            ],
        }
        for outcome in outcomes
    ]


def _bars(outcome: Outcome) -> list[Bar]:
    """Those whose contenders took part."""
    return [bar for bar in outcome.benchmark.bars if bar.over is None or bar.over in outcome.rounds]


def _values(bar: Bar, outcome: Outcome) -> list[float]:
    ours = [each[bar.figure] for each in outcome.rounds[outcome.benchmark.contenders[0]]]
    if bar.over is None:
        return ours
    return [mine / each[bar.figure] for mine, each in zip(ours, outcome.rounds[bar.over], strict=True)]


def _reached(bar: Bar, outcome: Outcome) -> bool | None:
    seen = median(_values(bar, outcome))
    if bar.at_least is not None:
        return seen >= bar.at_least
    return None if bar.at_most is None else seen <= bar.at_most


def _goal(bar: Bar, outcome: Outcome) -> str:
    reached = _reached(bar, outcome)
    if reached is None:
        return ""
    word = f"at least {bar.at_least:.2f}" if bar.at_least is not None else f"at most {bar.at_most:g}"
    return f"   {'reached' if reached else 'MISSED'}: {word}"


def _named(bar: Bar) -> str:
    return bar.figure if bar.over is None else f"{bar.figure}, as a multiple of {bar.over}"


def _spread(values: Sequence[float]) -> str:
    return f"{median(values):>12,.4g}  ({min(values):,.4g} to {max(values):,.4g})"
