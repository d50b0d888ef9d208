"""Hot statements use their index, sort nothing and scan nothing, whatever the table holds."""

import sqlite3
from collections.abc import Generator
from contextlib import closing
from typing import Any

import pytest

from klokka.stores._sql.statements import statement
from klokka.stores.sqlite.claims import joined
from klokka.stores.sqlite.migrator import migrate
from klokka.stores.sqlite.queries import listing


@pytest.fixture
def connection() -> Generator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as made:
        migrate(made, "memory")
        yield made


def plan(connection: sqlite3.Connection, text: str) -> str:
    """What SQLite would do, a line for each step."""
    names = dict.fromkeys(("limit", "offset", "before", "status", "kind", "queue", "unique_key", "schedule_id"), 1)
    parameters: Any = names if ":limit" in text else [1] * max(text.count("?"), 12)
    if not isinstance(parameters, dict):
        parameters = parameters[: _numbered(text)]
    return "\n".join(row[3] for row in connection.execute(f"explain query plan {text}", parameters))


def _numbered(text: str) -> int:
    numbers = [int(part[0]) for part in text.split("?")[1:] if part[:1].isdigit()]
    return max(numbers) if numbers else text.count("?")


def named(name: str) -> str:
    return statement("klokka.stores.sqlite", name)


@pytest.mark.parametrize("kinds", [1, 2, 18, 100])
@pytest.mark.parametrize(("look", "index"), [("due", "klokka_jobs_due"), ("ended", "klokka_jobs_leased")])
def test_a_claim_merges_the_heads_of_its_index(
    connection: sqlite3.Connection, look: str, index: str, kinds: int
) -> None:
    steps = plan(connection, joined(named(f"claimable_{look}"), kinds))

    assert steps.count(f"USING INDEX {index} (queue=? AND kind=? AND") == kinds
    assert "TEMP B-TREE" not in steps
    assert "SCAN" not in steps


def test_the_look_ahead_reads_heads_of_indexes_alone(connection: sqlite3.Connection) -> None:
    steps = plan(connection, named("next_due"))

    assert "COVERING INDEX klokka_jobs_due (queue=? AND kind=? AND due_at>?)" in steps
    assert "COVERING INDEX klokka_jobs_leased (queue=? AND kind=? AND lease_until>?)" in steps
    assert "SCAN klokka_jobs" not in steps
    assert "TEMP B-TREE" not in steps


@pytest.mark.parametrize(
    ("name", "index"),
    [
        ("key_holder", "klokka_jobs_live_key"),
        ("key_rival", "klokka_jobs_live_key"),
        ("sweep_jobs", "klokka_jobs_ended"),
        ("sweepable_job", "klokka_jobs_ended"),
        ("sweep_keys", "klokka_keys_expiry"),
        ("sweepable_key", "klokka_keys_expiry"),
        ("claim_jobs", "INTEGER PRIMARY KEY"),
        ("settle_jobs", "INTEGER PRIMARY KEY"),
        ("extend_lease", "INTEGER PRIMARY KEY"),
        ("get_job", "INTEGER PRIMARY KEY"),
        ("cancel_job", "INTEGER PRIMARY KEY"),
        ("requeue_job", "INTEGER PRIMARY KEY"),
        ("delete_job", "INTEGER PRIMARY KEY"),
        ("report_progress", "INTEGER PRIMARY KEY"),
        ("hold_writers_place", "INTEGER PRIMARY KEY"),
        ("due_schedules", "PRIMARY KEY (id=?)"),
    ],
)
def test_a_statement_searches_by_its_index(connection: sqlite3.Connection, name: str, index: str) -> None:
    steps = plan(connection, named(name))

    assert index in steps
    assert "SCAN klokka_" not in steps


def test_counting_and_depths_read_indexes_alone(connection: sqlite3.Connection) -> None:
    counts, depths = plan(connection, named("counts_by_status")), plan(connection, named("queue_depths"))

    assert counts == "SCAN klokka_jobs USING COVERING INDEX klokka_jobs_status"
    assert "SCAN klokka_jobs USING COVERING INDEX klokka_jobs_due" in depths
    assert "SCAN klokka_jobs USING COVERING INDEX klokka_jobs_leased" in depths


@pytest.mark.parametrize(
    ("filters", "index"),
    [
        ((), "SCAN klokka_jobs"),  # backwards over the table itself, which is the order
        (("before",), "INTEGER PRIMARY KEY"),
        (("status",), "klokka_jobs_status"),
        (("kind",), "klokka_jobs_kind"),
        (("queue",), "klokka_jobs_queue"),
        (("unique_key",), "klokka_jobs_key"),
        (("schedule_id",), "klokka_jobs_schedule"),
        (("status", "before"), "klokka_jobs_status"),
        (("status", "kind", "queue", "before"), "klokka_jobs_"),
    ],
)
def test_a_page_comes_from_an_index_in_its_order(
    connection: sqlite3.Connection, filters: tuple[str, ...], index: str
) -> None:
    steps = plan(connection, listing(filters))

    assert index in steps
    assert "TEMP B-TREE" not in steps
