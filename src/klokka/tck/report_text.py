"""A report for people: how far the store goes, what it broke and how that came about, what was not asked and why."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from klokka.tck.check import Check
from klokka.tck.report import Failed, Passed, Reach, Report, Result, Skipped, Standing, Store


def text(report: Report, *, full: bool = False) -> str:
    """The whole report. In `full` every clause is named with its checks, else with their number."""
    return "\n".join(_lines(report, full=full))


def head(store: Store, seed: int) -> str:
    """What is tried, and the seed that does the same again."""
    of = "" if store.traits is None else f"{store.traits.name} {store.traits.version}, "
    return f"{of}seed {seed}"


def summary(report: Report) -> str:
    """The counts, in one line."""
    rounds = f" in {report.rounds} rounds" if report.rounds > 1 else ""
    counts = f"{len(report.passed)} passed, {len(report.failed)} failed, {len(report.skipped)} skipped"
    return f"{counts}{rounds}, {report.seconds:.1f} s"


def _lines(report: Report, *, full: bool) -> Iterator[str]:
    yield head(report.store, report.seed)
    for failed in report.failed:
        yield ""
        yield f"FAILED {failed}"
    yield ""
    for reach in report.reaches():
        yield from _of_level(report, reach, full=full)
    if report.skipped:
        yield ""
        yield from _skips(report.skipped)
    if report.shortened:
        yield ""
        yield "cut short by time, so that this seed looks at more on a faster machine:"
        for result in report.shortened:
            yield f"  {result.check.id}: {result.shortened}"
    if report.given_up is not None:
        yield ""
        yield f"given up: {report.given_up}"
    yield ""
    yield summary(report)


def _of_level(report: Report, reach: Reach, *, full: bool) -> Iterator[str]:
    why = f": {reach.lacking}" if reach.lacking is not None else ""
    yield f"{reach.level.name}: {reach.standing.value}{why}"
    if reach.standing is Standing.ABSENT:
        return
    for clause, standing in reach.clauses.items():
        results = report.results_of(clause)
        said = "" if standing is Standing.REACHED else f", {standing.value}"
        yield f"  {f'[{clause}]':<27} {_counts(results)}{said}"
        if full:
            for result in results:
                yield f"    {_line(result)}"


def _counts(results: Sequence[Result]) -> str:
    numbers = {
        "passed": sum(isinstance(result, Passed) for result in results),
        "failed": sum(isinstance(result, Failed) for result in results),
        "skipped": sum(isinstance(result, Skipped) for result in results),
    }
    return ", ".join(f"{number} {what}" for what, number in numbers.items() if number)


def _line(result: Result) -> str:
    match result:
        case Passed():
            return f"passed   {result.check.id} ({result.seconds:.2f} s)"
        case Failed():
            return f"FAILED   {result.check.id} ({result.seconds:.2f} s, seed {result.seed})"
        case Skipped():
            return f"skipped  {result.check.id}: {result.reason}"


def _skips(skipped: list[Skipped]) -> Iterator[str]:
    yield "skipped, by reason:"
    for reason, of_reason in groupby(sorted(skipped, key=lambda skip: skip.reason), key=lambda skip: skip.reason):
        yield f"  {reason}"
        for check in _once(skip.check for skip in of_reason):
            yield f"    {check.id} {check.cited}"


def _once(checks: Iterable[Check]) -> list[Check]:
    return list({check.id: check for check in checks}.values())
