"""What is wrong with a server or with our tables in it, and what to do about each."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Final

from klokka.errors import StoreError
from klokka.spi.diagnosis import Finding
from klokka.stores.postgres.schema import Schema

_LONG: Final = timedelta(minutes=5)
_OLD: Final = 1_000_000
"""Transactions that have begun since, for snapshots whose time nobody keeps."""
_MANY_DEAD: Final = 100_000
"""Ten times what our autovacuum settings wait for."""
_LARGE: Final = 64 * 1024 * 1024
_ENTRY: Final = 1_000
"""Bytes of an index for each of its entries; a sound one has a tenth."""
_KEPT: Final = ("autovacuum_vacuum_scale_factor=0", "autovacuum_vacuum_threshold=")
_QUOTE: Final = "'"
_END: Final = "select pg_terminate_backend({pid});"


def of_server(*, standby: bool, fsync: str | None, full_pages: str | None) -> Iterable[Finding]:
    """A server that cannot be written to, or whose commits do not last."""
    if standby:
        yield Finding(
            problem="this server is a standby, which cannot be written to.",
            advice="Name all servers and ask for the primary: postgresql://one,two/database?target_session_attrs=read-write",
        )
    for name, value in (("fsync", fsync), ("full_page_writes", full_pages)):
        if value == "off":
            yield Finding(
                problem=f"the server runs with {name} = off: jobs that it acknowledged may be lost when the machine dies.",
                advice=f"Set {name} = on, unless nothing in this database matters.",
            )


def of_connections(used: int, most: int) -> Iterable[Finding]:
    """A server that soon takes nobody any more."""
    if used >= 0.9 * most:
        yield Finding(
            problem=f"{used:,} of the server's {most:,} connections are in use.",
            advice="Put a pooler before it, give the stores fewer (?connections=), or raise max_connections.",
        )


def of_vacuum(autovacuum: str | None, counts: str | None) -> Iterable[Finding]:
    """A server that clears nothing away."""
    for name, value in (("autovacuum", autovacuum), ("track_counts", counts)):
        if value == "off":
            yield Finding(
                problem=f"the server runs with {name} = off: dead rows are never cleared away, and claims slow down.",
                advice=f"alter system set {name} = on; select pg_reload_conf();",
            )


def of_table(name: str, dead: int, options: str, schema: Schema) -> Iterable[Finding]:
    """A table that is not kept clean."""
    table = f"{schema.quoted}.{name}"
    if "autovacuum_enabled=false" in options or "autovacuum_enabled=off" in options:
        yield Finding(
            problem=f"autovacuum is off for the table {name}: dead rows are never cleared away, and claims slow down.",
            advice=f"alter table {table} reset (autovacuum_enabled);",
        )
    if name == "jobs" and not all(option in options for option in _KEPT):
        yield Finding(
            problem=f"the table {name} has lost its own autovacuum settings ({options or 'it has none'}).",
            advice=f"alter table {table} set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000);",
        )
    if dead > _MANY_DEAD:
        yield Finding(
            problem=f"the table {name} has about {dead:,} dead rows, which slow down claims.",
            advice=f"End whoever holds an old snapshot, see there; else: vacuum {table};",
        )


def of_index(name: str, valid: bool, size: int, entries: int, schema: Schema) -> Iterable[Finding]:
    """An index that cannot be used, or is mostly empty."""
    remake = f"reindex index concurrently {schema.quoted}.{name};"
    if not valid:
        yield Finding(problem=f"the index {name} is not valid, and no statement uses it.", advice=remake)
    elif size > _LARGE and size > _ENTRY * entries:
        yield Finding(
            problem=f"the index {name} takes {size / 1024 / 1024:,.0f} MiB for about {entries:,} entries.",
            advice=remake,
        )


def is_long(length: timedelta | None, age: int) -> bool:
    """Whether somebody's snapshot is older than is good for a queue."""
    return length > _LONG if length is not None else age > _OLD


def of_holder(told: str, what: str) -> Finding:
    """Somebody whose old snapshot keeps every row that was deleted or changed since."""
    sort, _, name = what.partition(" ")
    match sort:
        case "session":
            advice = f"Let its owner end it, or end it: {_END.format(pid=name)}"
        case "standby":
            advice = "Cancel the long query there, or set hot_standby_feedback = off on it."
        case "prepared":
            advice = f"Commit or roll it back: rollback prepared '{name.removeprefix('transaction ').replace(_QUOTE, 2 * _QUOTE)}';"
        case _:
            advice = f"Let its consumer go on, or drop it: select pg_drop_replication_slot('{name.split()[-1]}');"
    return Finding(
        problem=f"an old snapshot keeps dead rows from being cleared away; tables grow, and jobs that come late wait longer: {told}",
        advice=advice,
    )


def of_listening(error: StoreError) -> Finding:
    """A connection for wakeups that cannot be made."""
    return Finding(
        problem=f"no wakeup comes, since the connection for them (?listen=) cannot be made: {error}",
        advice="Let ?listen= name the server itself, past any pooler, or leave it out if there is none.",
    )


def of_rights(role: str, schema: Schema) -> Finding:
    """A role that cannot even enqueue."""
    return Finding(
        problem=f"the role {role} may not enqueue into the schema {schema.name!r}.",
        advice="Grant what its duty needs, see docs/postgres.md, or connect as another role.",
    )
