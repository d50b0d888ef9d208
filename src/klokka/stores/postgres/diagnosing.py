"""What the server, the schema and the sessions beside ours look like, and what of it is wrong."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import psycopg

from klokka.spi.diagnosis import Finding, StoreReport
from klokka.stores.postgres import findings
from klokka.stores.postgres.failures import translated
from klokka.stores.postgres.handle import Handle
from klokka.stores.postgres.link import Link, Row, connect
from klokka.stores.postgres.rights import duties_of

_MIB: Final = 1024 * 1024


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
            await link.look()
            report = await self._examined(link)
            await link.commit()
        except psycopg.Error as error:
            raise translated(error, self._setting.where, may_be_done=False) from error
        finally:
            await link.close()
        return report

    async def _examined(self, link: Link) -> StoreReport:
        schema = self._setting.schema
        (server,) = await link.run(schema.sql("server_facts"))
        duties = await duties_of(link, schema)
        tables = [_table(row) for row in await link.run(schema.sql("table_facts"), (schema.name,))]
        indexes = await link.run(schema.sql("index_facts"), (schema.name,))
        holders = [_holder(row) for row in await link.run(schema.sql("snapshot_holders"))]
        version, role, standby, fsync, full_pages, autovacuum, counts, commit, used, most = server
        facts = {
            "server": f"PostgreSQL {version}{', a standby' if standby else ''}",
            "pooler": "none" if link.direct else "between here and the server",
            "role": f"{role}, which may {', '.join(duties) or 'do nothing here'}",
            "commits": f"synchronous_commit {commit}, fsync {fsync}, full_page_writes {full_pages}",
            "connections": f"{used:,} of {most:,}",
            **{f"table {table.name}": _described(table) for table in tables if table.name == "jobs"},
            "indexes": ", ".join(f"{name} {size / _MIB:,.1f} MiB" for name, _, size, _ in indexes if "jobs" in name)
            or "none",
            "oldest snapshot": _told(holders[0]) if holders else "none but this one",
        }
        found: list[Finding] = [
            *findings.of_server(standby=standby, fsync=fsync, full_pages=full_pages),
            *findings.of_connections(used, most),
            *findings.of_vacuum(autovacuum, counts),
            *(found for table in tables for found in findings.of_table(table.name, table.dead, table.options, schema)),
            *(
                found
                for name, valid, size, entries in indexes
                for found in findings.of_index(name, valid, size, entries, schema)
            ),
            *(
                findings.of_holder(_told(holder), holder.what)
                for holder in holders
                if findings.is_long(holder.length, holder.age)
            ),
        ]
        if tables and "enqueue" not in duties:
            found.append(findings.of_rights(role, schema))
        return StoreReport(facts=facts, findings=found)


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
