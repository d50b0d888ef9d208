"""The kit as a pytest plugin: `pytest --klokka-store module:factory` runs every check as a test.

pytest loads this module in every session, so it imports the kit when the option is given and not before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

import pytest

if TYPE_CHECKING:
    from klokka.tck.check import Check
    from klokka.tck.report import Failed
    from klokka.tck.subject import Factory

N = TypeVar("N", bound=pytest.Item | pytest.Collector)

_CUT_SHORT: Final = "klokka-cut-short"
_HOPELESS: Final = pytest.StashKey[int]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the kit's options."""
    group = parser.getgroup("klokka", "the conformance kit for stores")
    group.addoption(
        "--klokka-store", metavar="MODULE:FACTORY", help="Run the conformance kit on this factory's stores."
    )
    group.addoption("--klokka-seed", metavar="N", type=int, help="The seed of an earlier run, to do the same again.")
    group.addoption(
        "--klokka-only", metavar="NAME", action="append", default=[], help="A clause, level or group; may be repeated."
    )


def pytest_configure(config: pytest.Config) -> None:
    """Draws the seed once, before workers are started that must share it."""
    if config.option.klokka_store and config.option.klokka_seed is None:
        from klokka.tck.campaign import new_seed

        config.option.klokka_seed = new_seed()


def pytest_report_header(config: pytest.Config) -> str | None:
    """Names the seed, with which a run can be replayed."""
    if not config.option.klokka_store:
        return None
    return f"klokka-store: {config.option.klokka_store}, --klokka-seed {config.option.klokka_seed}"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Names the seed again, where a quiet session shows no header."""
    if config.option.klokka_store:
        for report in terminalreporter.getreports("passed"):
            for name, why in report.user_properties:
                if name == _CUT_SHORT:
                    terminalreporter.write_line(f"cut short by time: {report.nodeid}: {why}")
        terminalreporter.write_line(f"the seed of the conformance kit: --klokka-seed {config.option.klokka_seed}")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[pytest.Item]) -> None:
    """Puts the checks before the session's own tests."""
    if config.option.klokka_store:
        items[:0] = _made(Kit, session, name="klokka-store").collect()


class Kit(pytest.Collector):
    """The checks for one factory."""

    def collect(self) -> list[pytest.Item]:
        """Every chosen check, once the factory has been seen to give a store.

        Raises:
            UsageError: it does not, or nothing is chosen; the message says why.
        """
        from klokka.errors import InvalidInput
        from klokka.tck.campaign import examined
        from klokka.tck.choice import chosen
        from klokka.tck.door import Unfit
        from klokka.tck.named import factory_named

        try:
            checks = chosen(self.config.option.klokka_only)
            factory = factory_named(self.config.option.klokka_store)
            examined(factory)
        except (InvalidInput, Unfit) as error:
            raise pytest.UsageError(f"--klokka-store {self.config.option.klokka_store}: {error}") from error
        return [_made(CheckItem, self, name=check.id, check=check, factory=factory) for check in checks]


class CheckItem(pytest.Item):
    """One check as a test."""

    def __init__(self, *, check: Check, factory: Factory, **of_pytest: Any) -> None:
        super().__init__(**of_pytest)  # pyright: ignore[reportUnknownMemberType]
        self.check = check
        self.factory = factory

    def runtest(self) -> None:
        """Passes, skips with the reason, or fails with all that is known."""
        from klokka.tck.report import Failed, Skipped
        from klokka.tck.watchdog import watched

        result = watched(self.check, self.factory, seed=self.config.option.klokka_seed)
        if isinstance(result, Skipped):
            pytest.skip(result.reason)
        if isinstance(result, Failed):
            self._despair(result)
            raise Broken(result) from result.error
        if result.shortened is not None:
            self.user_properties.append((_CUT_SHORT, result.shortened))  # which other processes of a session tell too

    def _despair(self, failed: Failed) -> None:
        """Ends the session where the next checks would only end, or hang, in the same way."""
        from klokka.tck.campaign import GIVEN_UP
        from klokka.tck.endings import HOPELESS_AT_MOST, Hopeless

        if isinstance(failed.error, Hopeless):
            self.config.stash[_HOPELESS] = self.config.stash.get(_HOPELESS, 0) + 1
            if self.config.stash[_HOPELESS] >= HOPELESS_AT_MOST:
                self.session.shouldstop = GIVEN_UP

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The failure in the contract's words, without frames of the kit."""
        if isinstance(excinfo.value, Broken):
            return str(excinfo.value.failed)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[str, None, str]:
        """Where the check stands, and its name with its clauses."""
        return self.check.prove.__code__.co_filename, None, f"{self.check.id} {self.check.cited}"


class Broken(Exception):
    """A check has failed."""

    def __init__(self, failed: Failed) -> None:
        super().__init__(str(failed.error))
        self.failed = failed


def _made(kind: type[N], parent: pytest.Collector, **given: Any) -> N:
    """A node as pytest wants it made."""
    node: N = cast("Any", kind).from_parent(parent, **given)
    return node
