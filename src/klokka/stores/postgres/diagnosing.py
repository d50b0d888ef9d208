"""What the server, the schema and the sessions beside ours look like, and what of it is wrong."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

import psycopg

from klokka.errors import StoreError
from klokka.spi.diagnosis import Finding, StoreReport
from klokka.stores.postgres import findings
from klokka.stores.postgres.blocking import of_locks
from klokka.stores.postgres.failures import translated
from klokka.stores.postgres.handle import Handle
from klokka.stores.postgres.link import Link, Row, connect
from klokka.stores.postgres.migrator import has_all_tables
from klokka.stores.postgres.rights import duties_of
from klokka.stores.postgres.schema import Schema
from klokka.stores.postgres.setting import Setting

_MIB: Final = 1024 * 1024
_PATIENCE: Final = b"set local lock_timeout = '500ms'"


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """One of our tables, as the server's statistics have it."""

    name: str
    live: int
    dead: int
    cleaned: datetime | None
    size: int
    index_size: int
    options: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    """Somebody who may still read rows that are gone. `age` is in transactions; `since` of some is not known."""

    what: str
    name: str
    since: datetime | None
    length: timedelta | None
    age: int
    doing: str


class Diagnosing(Handle):
    """Implements `DiagnosableStore`."""

    async def diagnose(self) -> StoreReport:
        link = await connect(self._setting)
        try:
            return await self._examined(link)
        except psycopg.Error as error:
            raise translated(error, self._setting.where, may_be_done=False) from error
        finally:
            await link.close()

    async def _examined(self, link: Link) -> StoreReport:
        schema = self._setting.schema
        reports = [
            await self._asked(link, "server", lambda: _server(link, schema)),
            await self._asked(link, "locks", lambda: _locks(link, schema)),
            await self._asked(link, "table jobs", lambda: _tables(link, schema)),
            await self._asked(link, "indexes", lambda: _indexes(link, schema)),
            await self._asked(link, "oldest snapshot", lambda: _holders(link, schema)),
        ]
        reports.append(await _wakeups(self._setting))
        return StoreReport(
            facts={name: fact for report in reports for name, fact in report.facts.items()},
            findings=[finding for report in reports for finding in report.findings],
        )

    async def _asked(self, link: Link, name: str, question: Callable[[], Awaitable[StoreReport]]) -> StoreReport:
        """The answer to a question; without one, why, so that the others are still asked."""
        try:
            await link.look()
            await link.connection.execute(_PATIENCE)
            report = await question()
            await link.commit()
        except psycopg.errors.LockNotAvailable:
            report = StoreReport(facts={name: "not seen: it is locked"}, findings=())
        except psycopg.Error as error:
            if link.connection.closed:
                raise
            problem = translated(error, self._setting.where, may_be_done=False)
            report = StoreReport(facts={name: "not seen"}, findings=[Finding(problem=str(problem), advice="")])
        if not link.idle:
            await link.connection.execute(b"rollback")
        return report


async def _server(link: Link, schema: Schema) -> StoreReport:
    ((version, role, standby, fsync, full_pages, autovacuum, counts, commit, used, most),) = await link.run(
        schema.sql("server_facts")
    )
    duties = await duties_of(link, schema)
    found = [
        *findings.of_server(standby=standby, fsync=fsync, full_pages=full_pages),
        *findings.of_connections(used, most),
        *findings.of_vacuum(autovacuum, counts),
    ]
    if "enqueue" not in duties and await has_all_tables(link, schema):
        found.append(findings.of_rights(role, schema))
    facts = {
        "server": f"PostgreSQL {version}{', a standby' if standby else ''}",
        "pooler": "none" if link.direct else "between here and the server",
        "role": f"{role}, which may {', '.join(duties) or 'do nothing here'}",
        "commits": f"synchronous_commit {commit}, fsync {fsync}, full_page_writes {full_pages}",
        "connections": f"{used:,} of {most:,}",
    }
    return StoreReport(facts=facts, findings=found)


async def _locks(link: Link, schema: Schema) -> StoreReport:
    return StoreReport(facts={}, findings=[*of_locks(await link.run(schema.sql("lock_chains"), (schema.name,)))])


async def _tables(link: Link, schema: Schema) -> StoreReport:
    if not await has_all_tables(link, schema):
        return StoreReport(facts={}, findings=())  # missing or somebody else's, as the look at the schema says
    tables = [_table(row) for row in await link.run(schema.sql("table_facts"), (schema.name,))]
    return StoreReport(
        facts={f"table {table.name}": _described(table) for table in tables if table.name == "jobs"},
        findings=[
            found for table in tables for found in findings.of_table(table.name, table.dead, table.options, schema)
        ],
    )


async def _indexes(link: Link, schema: Schema) -> StoreReport:
    indexes = await link.run(schema.sql("index_facts"), (schema.name,))
    told = ", ".join(f"{name} {size / _MIB:,.1f} MiB" for name, _, size, _ in indexes if "jobs" in name)
    return StoreReport(
        facts={"indexes": told or "none"},
        findings=[
            found
            for name, valid, size, entries in indexes
            for found in findings.of_index(name, valid, size, entries, schema)
        ],
    )


async def _holders(link: Link, schema: Schema) -> StoreReport:
    holders = [_holder(row) for row in await link.run(schema.sql("snapshot_holders"))]
    return StoreReport(
        facts={"oldest snapshot": _told(holders[0]) if holders else "none but this one"},
        findings=[
            findings.of_holder(_told(holder), holder.what)
            for holder in holders
            if findings.is_long(holder.length, holder.age)
        ],
    )


async def _wakeups(setting: Setting) -> StoreReport:
    """Whether the connection that listens can be made, where it goes another way than the others."""
    if setting.listen != setting.conninfo:
        try:
            link = await connect(replace(setting, conninfo=setting.listen))
        except StoreError as error:
            return StoreReport(facts={}, findings=[findings.of_listening(error)])
        await link.close()
    return StoreReport(facts={}, findings=())


def _table(row: Row) -> Table:
    name, live, dead, cleaned, size, index_size, options = row
    return Table(name=name, live=live, dead=dead, cleaned=cleaned, size=size, index_size=index_size, options=options)


def _holder(row: Row) -> Holder:
    what, name, since, length, age, doing = row
    return Holder(what=what, name=name, since=since, length=length, age=age, doing=doing)


def _described(table: Table) -> str:
    cleaned = "never" if table.cleaned is None else f"{table.cleaned:%Y-%m-%d %H:%M:%S} UTC"
    return (
        f"about {table.live:,} rows and {table.dead:,} dead ones, vacuumed {cleaned}, "
        f"{table.size / _MIB:,.1f} MiB and {table.index_size / _MIB:,.1f} MiB of indexes; {table.options or 'no options'}"
    )


def _told(holder: Holder) -> str:
    since = "" if holder.since is None else f" since {holder.since:%Y-%m-%d %H:%M:%S} UTC ({_length(holder.length)})"
    return f"{holder.what} ({holder.name}){since}, {holder.doing}"


def _length(length: timedelta | None) -> str:
    return "" if length is None else f"{length // timedelta(seconds=1):,} s"
