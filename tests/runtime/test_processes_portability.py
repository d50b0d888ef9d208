"""Which handlers are refused before any process is asked to run them."""

import functools
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest

from klokka.errors import InvalidInput
from klokka.runtime.processes import ProcessPool, check_portable
from tests.support import process_handlers as handlers
from tests.support.processes import process_handler


class WithLock:
    def __init__(self) -> None:
        self.lock = threading.Lock()

    def run(self, *_: object) -> None: ...


class Named:
    """Travels by the name of its function, without looking whether that is bound, as decorated functions do."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def __reduce__(self) -> tuple[Any, ...]:
        return getattr, (self.function.__module__, self.function.__qualname__)

    def run(self, *_: object) -> None: ...


def local_function() -> Callable[..., None]:
    def run(*_: object) -> None: ...

    return run


def not_bound_yet(*_: object) -> None: ...


@pytest.mark.parametrize(
    "run",
    [
        pytest.param(lambda *_: None, id="a lambda"),
        pytest.param(local_function(), id="a local function"),
        pytest.param(functools.partial(local_function()), id="a partial of a local function"),
        pytest.param(WithLock().run, id="a method of what does not pickle"),
        pytest.param(Named(local_function()).run, id="a decorated local function"),
        pytest.param(Named(lambda: None).run, id="a decorated lambda"),
    ],
)
def test_what_has_no_name_to_import_is_refused(run: Callable[..., Any]) -> None:
    with pytest.raises(InvalidInput, match=r"'some\.kind' cannot run in a process: .*executor='thread'"):
        check_portable(process_handler(run, kind="some.kind"))


def test_a_decode_without_a_name_is_refused_as_well() -> None:
    with pytest.raises(InvalidInput, match="cannot run in a process"):
        check_portable(process_handler(handlers.nothing, lambda text: text))


@pytest.mark.parametrize(
    "run",
    [
        handlers.nothing,
        handlers.Greeter("<lambda> calculus, a text").greet,
        functools.partial(handlers.nothing),
        Named(not_bound_yet).run,
    ],
)
def test_what_can_be_imported_by_name_is_accepted(run: Callable[..., Any]) -> None:
    check_portable(process_handler(run))


def test_a_main_program_that_is_no_file_cannot_be_imported_again() -> None:
    program = (
        "from tests.support.processes import process_handler\n"
        "from klokka.runtime.processes import check_portable\n"
        "def run(*_): ...\n"
        "check_portable(process_handler(run))\n"
    )

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=30, check=False)

    assert "belongs to a main program that is not a file" in done.stderr


def test_a_pool_without_slots_is_refused() -> None:
    with pytest.raises(InvalidInput, match="1 or more, not 0"):
        ProcessPool(0)
