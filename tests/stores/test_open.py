"""A URL becomes the store that it names, or an error that says what to write instead."""

from datetime import timedelta
from pathlib import Path

import pytest

from klokka.errors import UnknownStore
from klokka.spi.life import Survives
from klokka.stores.memory.store import MemoryStore
from klokka.stores.open import open_store
from klokka.stores.sqlite.store import SqliteStore


def test_memory_is_a_store_in_memory() -> None:
    assert isinstance(open_store("memory:"), MemoryStore)


def test_three_slashes_name_a_relative_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    store = open_store("sqlite:///data/jobs.db")

    assert isinstance(store, SqliteStore)
    assert store.path == str(tmp_path.resolve() / "data" / "jobs.db")


def test_four_slashes_name_an_absolute_file(tmp_path: Path) -> None:
    store = open_store(f"sqlite:///{tmp_path}/a%20b%23c.db")

    assert isinstance(store, SqliteStore)
    assert store.path == str(tmp_path.resolve() / "a b#c.db")


def test_nothing_is_made_before_the_store_is_opened(tmp_path: Path) -> None:
    open_store(f"sqlite:///{tmp_path}/jobs.db")

    assert list(tmp_path.iterdir()) == []


def test_a_commit_survives_the_machine_unless_the_url_says_otherwise() -> None:
    assert open_store("sqlite:///jobs.db").traits.survives is Survives.MACHINE
    assert open_store("sqlite:///jobs.db?durability=process").traits.survives is Survives.PROCESS


@pytest.mark.parametrize(("text", "bound"), [("250ms", 0.25), ("2s", 2), ("1.5s", 1.5), ("1m", 60)])
def test_the_bound_of_waits_is_an_option(text: str, bound: float) -> None:
    store = open_store(f"sqlite:///jobs.db?busy={text}&durability=machine")

    assert store.traits.bound == timedelta(seconds=bound)


def test_an_unknown_scheme_is_told_what_is_known() -> None:
    with pytest.raises(UnknownStore) as caught:
        open_store("redis://localhost")

    assert str(caught.value).startswith('no store for "redis://localhost". Known: memory:, sqlite:')
    assert "docs/write-a-store.md" in str(caught.value)


@pytest.mark.parametrize(
    ("url", "hint"),
    [
        ("sqlite://jobs.db", "sqlite:///jobs.db"),
        ("sqlite:jobs.db", "sqlite:///jobs.db"),
        ("sqlite:", "names no file. Give one, such as sqlite:///jobs.db"),
        ("sqlite:///", "sqlite:///jobs.db"),
        ("sqlite:///directory/", "names no file"),
        ("sqlite:///:memory:", "memory:"),
        ("sqlite://:memory:", "memory:"),
        ("sqlite:///a#b.db", "%23"),
        ("sqlite:///jobs.db?journal=off", "'journal'"),
        ("sqlite:///jobs.db?durability=none", "machine, process"),
        ("sqlite:///jobs.db?busy=soon", "500ms, 5s or 1m"),
        ("sqlite:///jobs.db?busy=0s", "500ms, 5s or 1m"),
        (f"sqlite:///jobs.db?busy={'9' * 400}s", "500ms, 5s or 1m"),
        ("sqlite:///jobs.db?busy=1s&busy=2s", "twice"),
        ("memory:?size=1", "'size'"),
        ("memory:jobs", "memory: alone"),
        ("jobs.db", "Known: memory:, sqlite:"),
        ("", "Known: memory:, sqlite:"),
    ],
)
def test_a_url_of_another_form_gets_a_hint(url: str, hint: str) -> None:
    with pytest.raises(UnknownStore) as caught:
        open_store(url)

    assert hint in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "redis://user:hunter2@host/0",
        "redis://:hun/ter2@hunter2@host",
        "redis://host/0?password=hunter2&x=1",
        "redis://user:hunter2@[::1/0",
        "redis://user:hunter2\N{FULLWIDTH COMMERCIAL AT}host@\N{ACCOUNT OF}/0",
    ],
)
def test_a_password_is_never_shown(url: str) -> None:
    with pytest.raises(UnknownStore) as caught:
        open_store(url)

    assert "ter2" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
