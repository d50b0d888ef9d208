import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.shell import Shell


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shell]:
    """A shell in an empty folder with an empty database, named by KLOKKA_STORE; modules imported there are forgotten."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setenv("KLOKKA_STORE", "sqlite:///jobs.db")
    monkeypatch.delenv("KLOKKA_APP", raising=False)
    before = set(sys.modules)
    shell = Shell(tmp_path)
    shell.enqueue()
    yield shell
    for name, module in list(sys.modules.items()):
        if name not in before and str(getattr(module, "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[name]
