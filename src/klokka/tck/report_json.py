"""A report as one JSON document."""

from typing import Any

from klokka.tck.report import Failed, Passed, Reach, Report, Result, Skipped
from klokka.tck.violations import Violation


def document(report: Report) -> dict[str, Any]:
    """The report in plain values of JSON. Names may be added later; none changes its meaning."""
    traits = report.store.traits
    return {
        "store": None
        if traits is None
        else {
            "name": traits.name,
            "version": traits.version,
            "resolution_seconds": traits.resolution.total_seconds(),
            "bound_seconds": traits.bound.total_seconds(),
            "survives": traits.survives.name.lower(),
        },
        "seed": report.seed,
        "rounds": report.rounds,
        "seconds": round(report.seconds, 3),
        "conforms": not report.failed,
        "given_up": report.given_up,
        "counts": {"passed": len(report.passed), "failed": len(report.failed), "skipped": len(report.skipped)},
        "levels": [_level(report, reach) for reach in report.reaches()],
        "checks": [_result(result) for result in report.results],
    }


def _level(report: Report, reach: Reach) -> dict[str, Any]:
    return {
        "name": reach.level.name,
        "standing": reach.standing.name.lower(),
        "lacking": reach.lacking,
        "clauses": [
            {
                "clause": clause,
                "standing": standing.name.lower(),
                "checks": sorted({result.check.id for result in report.results_of(clause)}),
            }
            for clause, standing in reach.clauses.items()
        ],
    }


def _result(result: Result) -> dict[str, Any]:
    check = result.check
    said: dict[str, Any] = {
        "check": check.id,
        "layer": check.layer,
        "clauses": list(check.clauses),
        "seed": result.seed,
    }
    match result:
        case Passed():
            return said | {"result": "passed", "seconds": round(result.seconds, 3), "cut_short": result.shortened}
        case Skipped():
            return said | {"result": "skipped", "reason": result.reason}
        case Failed():
            return said | {"result": "failed", "seconds": round(result.seconds, 3), **_why(result)}


def _why(failed: Failed) -> dict[str, Any]:
    error = failed.error
    seen = (
        {"why": error.why, "seen": error.shown_seen, "expected": error.shown_expected}
        if isinstance(error, Violation)
        else {"why": str(error), "seen": None, "expected": None}
    )
    return {**seen, "steps": list(failed.journal), "steps_in_all": failed.calls}
