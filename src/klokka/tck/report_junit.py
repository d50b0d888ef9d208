"""A report as JUnit XML, which build servers read."""

from xml.etree import ElementTree as Xml

from klokka.tck.report import Failed, Passed, Report, Result, Skipped
from klokka.tck.report_text import head
from klokka.tck.violations import Violation


def junit(report: Report) -> str:
    """One suite with one case for each result, the check's group as its class."""
    counts = {
        "tests": str(len(report.results)),
        "failures": str(sum(_is_violation(result) for result in report.failed)),
        "errors": str(sum(not _is_violation(result) for result in report.failed)),
        "skipped": str(len(report.skipped)),
        "time": f"{report.seconds:.3f}",
    }
    root = Xml.Element("testsuites", counts)
    suite = Xml.SubElement(root, "testsuite", {"name": f"klokka.tck {head(report.store, report.seed)}", **counts})
    for name, value in _facts(report):
        Xml.SubElement(_properties(suite), "property", {"name": name, "value": value})
    for result in report.results:
        _add(suite, result)
    Xml.indent(root)
    return Xml.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _facts(report: Report) -> list[tuple[str, str]]:
    levels = [(f"level.{reach.level.name}", reach.standing.value) for reach in report.reaches()]
    traits = report.store.traits
    store = [] if traits is None else [("store", traits.name), ("store.version", traits.version)]
    return [*store, ("seed", str(report.seed)), ("rounds", str(report.rounds)), *levels]


def _properties(suite: Xml.Element) -> Xml.Element:
    found = suite.find("properties")
    return Xml.SubElement(suite, "properties") if found is None else found


def _add(suite: Xml.Element, result: Result) -> None:
    seconds = 0.0 if isinstance(result, Skipped) else result.seconds
    case = Xml.SubElement(
        suite,
        "testcase",
        {"classname": f"klokka.tck.{result.check.group}", "name": result.check.name, "time": f"{seconds:.3f}"},
    )
    match result:
        case Passed():
            if result.shortened is not None:
                Xml.SubElement(case, "system-out").text = f"cut short by time: {result.shortened}"
        case Skipped():
            Xml.SubElement(case, "skipped", {"message": result.reason})
        case Failed():
            message = result.error.why if isinstance(result.error, Violation) else str(result.error).partition("\n")[0]
            sort = "failure" if _is_violation(result) else "error"
            said = Xml.SubElement(case, sort, {"message": _legal(message), "type": type(result.error).__name__})
            said.text = _legal(str(result))


def _is_violation(failed: Failed) -> bool:
    return isinstance(failed.error, Violation)


def _legal(text: str) -> str:
    """`text` without the characters that XML has none for."""
    return "".join(
        char
        if char in "\n\t" or (char >= " " and not "\ud800" <= char <= "\udfff" and char not in "\ufffe\uffff")
        else "?"
        for char in text
    )
