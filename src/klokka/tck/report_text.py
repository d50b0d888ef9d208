"""A report for people: how far the store goes, what it broke and how that came about, what was not asked and why."""

from collections.abc import Iterator
from itertools import groupby

from klokka.tck.check import Check
from klokka.tck.report import Reach, Report, Skipped, Standing, Store


def text(report: Report, *, clauses: bool = False) -> str:
    """The whole report. With `clauses` every clause is named with its checks, else only what is not plainly kept."""
    return "\n".join(_lines(report, clauses=clauses))


def head(store: Store, seed: int) -> str:
    """What is tried, and the seed that does the same again."""
    of = "" if store.traits is None else f"{store.traits.name} {store.traits.version}, "
    return f"{of}seed {seed}"


def summary(report: Report) -> str:
    """The counts, in one line."""
    rounds = f" in {report.rounds} rounds" if report.rounds > 1 else ""
    counts = f"{len(report.passed)} passed, {len(report.failed)} failed, {len(report.skipped)} skipped"
    return f"{counts}{rounds}, {report.seconds:.1f} s"


def _lines(report: Report, *, clauses: bool) -> Iterator[str]:
    yield head(report.store, report.seed)
    for failed in report.failed:
        yield ""
        yield f"FAILED {failed}"
    yield ""
    for reach in report.reaches():
        yield from _of_level(report, reach, clauses=clauses)
    if report.skipped:
        yield ""
        yield from _skips(report.skipped)
    yield ""
    yield summary(report)


def _of_level(report: Report, reach: Reach, *, clauses: bool) -> Iterator[str]:
    why = f": {reach.lacking}" if reach.lacking is not None else ""
    yield f"{reach.level.name:<14}{reach.standing.value}{why}"
    if reach.standing is Standing.ABSENT and not clauses:
        return
    for clause, standing in reach.clauses.items():
        if clauses or standing in (Standing.BROKEN, Standing.UNASKED):
            yield f"  [{clause}] {standing.value}"
        if clauses:
            for check in _once(result.check for result in report.results_of(clause)):
                yield f"    {check.id}"


def _skips(skipped: list[Skipped]) -> Iterator[str]:
    yield "skipped, by reason:"
    for reason, of_reason in groupby(sorted(skipped, key=lambda skip: skip.reason), key=lambda skip: skip.reason):
        yield f"  {reason}"
        for check in _once(skip.check for skip in of_reason):
            yield f"    {check.id} {check.cited}"


def _once(checks: Iterator[Check]) -> list[Check]:
    return list({check.id: check for check in checks}.values())
