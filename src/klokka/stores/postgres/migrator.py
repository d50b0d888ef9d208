"""The schema: where it stands, and how it is brought to this code's version."""

import re
from typing import Final

import psycopg

from klokka.errors import SchemaMismatch, StoreReadOnly
from klokka.spi.life import Migrations
from klokka.stores._sql.migrations import Migration, migrations, pending, unrecorded
from klokka.stores.postgres.failures import translated
from klokka.stores.postgres.link import Link
from klokka.stores.postgres.schema import Schema
from klokka.stores.postgres.setting import Setting

STEPS: Final = migrations("klokka.stores.postgres")
_LEDGER: Final = """create table if not exists {schema}.migrations (
    version integer primary key,
    name text not null,
    checksum text not null,
    applied_at timestamptz not null
)"""
_TABLES: Final = frozenset(
    re.findall(r"^create table \{schema\}\.(\w+)", "\n".join(step.text for step in STEPS), re.MULTILINE)
)
_PRESENT: Final = b"""
select relation.relname
from pg_catalog.pg_class as relation
inner join pg_catalog.pg_namespace as namespace on namespace.oid = relation.relnamespace
where namespace.nspname = $1::text and relation.relkind in ('r', 'p', 'v', 'm', 'f')"""
_THERE_ALREADY: Final = (
    psycopg.errors.DuplicateTable,
    psycopg.errors.DuplicateFunction,
    psycopg.errors.DuplicateObject,
)
_LOCK: Final = "select pg_advisory_xact_lock(hashtextextended('klokka.migrations.{name}', 0))"


async def standing(link: Link, setting: Setting) -> Migrations:
    """Where the schema stands; changes nothing.

    Raises:
        SchemaMismatch: newer than this code, foreign or damaged.
    """
    todo = await _pending(link, setting)
    return Migrations(current=len(STEPS) - len(todo), latest=len(STEPS))


async def has_all_tables(link: Link, schema: Schema) -> bool:
    """Whether the schema has a table of each of our names."""
    return await _present(link, schema) >= _TABLES | {"migrations"}


async def migrate(link: Link, setting: Setting) -> Migrations:
    """Applies what is pending, each step in a transaction of its own, and returns where the schema stood before.

    Of many processes at once one applies a step, under an advisory lock that ends with the transaction, and the
    others find it applied. Interrupted, it goes on at the next. Where nothing is pending, no right to change the
    schema is needed.

    Raises:
        SchemaMismatch: newer than this code, foreign or damaged.
        StoreReadOnly: this role may not do it.
    """
    before = await standing(link, setting)
    if before.current < before.latest:
        try:
            while await _step(link, setting):
                pass
        except psycopg.errors.InsufficientPrivilege as error:
            raise StoreReadOnly(
                f"{setting.where}: this role may not migrate the schema {setting.schema.name!r} from version "
                f"{before.current} to {before.latest} ({error}). Run `klokka migrate` as a role that may."
            ) from error
        except psycopg.Error as error:
            raise translated(error, setting.where, may_be_done=True) from error
    return before


async def require_current(link: Link, setting: Setting) -> None:
    """Returns if the schema is this code's.

    Raises:
        SchemaMismatch: it is older, newer, foreign or damaged.
    """
    stands = await standing(link, setting)
    if stands.current < stands.latest:
        raise SchemaMismatch(
            f"{setting.where}: the schema {setting.schema.name!r} has version {stands.current}, and this Klokka needs "
            f"{stands.latest}. Run `klokka migrate`."
        )


def script(schema: Schema) -> str:
    """All steps as one script, the records of the steps included, for people who apply it by hand."""
    steps = "\n".join(f"-- {step.version:04d}_{step.name}\n{step.text}\n{_record(step)};\n" for step in STEPS)
    whole = schema.written(f"\n\n{_LEDGER};\n\n{steps}\ncommit;\n")
    return f"begin;\n\n{_making(schema)};{whole}"


def _making(schema: Schema) -> str:
    """Makes the schema if it is not there. `if not exists` asks for the right to make one even where one is there."""
    known = f"select from pg_catalog.pg_namespace where nspname = {_literal(schema.name)}"
    body = f"begin if not exists ({known}) then create schema {schema.quoted}; end if; end"
    return f"do {_literal(body)}"


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


async def _step(link: Link, setting: Setting) -> bool:
    """Applies the next pending step; False if there is none."""
    schema = setting.schema
    todo: list[Migration] = []
    await link.begin()
    try:
        # The others wait for the whole of a step, which may rewrite a large table.
        await link.connection.execute(b"set local lock_timeout = '10min'; set local statement_timeout = 0")
        await link.connection.execute(_LOCK.format(name=schema.name.encode().hex()).encode())
        todo = await _pending(link, setting)
        if todo:
            await link.connection.execute(_making(schema).encode())
            for text in (_LEDGER, todo[0].text, _record(todo[0])):
                await link.connection.execute(schema.written(text).encode())
        await link.commit()
    except _THERE_ALREADY as error:
        step = todo[0]
        raise SchemaMismatch(
            f"{setting.where}, schema {schema.name!r}, does not record {step.version:04d}_{step.name}, and part of it is "
            f"already there ({error}): it was half-applied. Restore a backup, or take out that part."
        ) from error
    finally:
        if not link.idle and not link.connection.closed:
            await link.connection.execute(b"rollback")
    return len(todo) > 1


async def _pending(link: Link, setting: Setting) -> list[Migration]:
    where = f"{setting.where}, schema {setting.schema.name!r},"
    present = await _present(link, setting.schema)
    if "migrations" not in present:
        if foreign := sorted(present & _TABLES):
            raise SchemaMismatch(
                f"{where} has a table {foreign[0]!r} and no table of Klokka's migrations: it is not Klokka's. "
                f"Give another schema, such as ?schema=klokka."
            )
        return list(STEPS)
    try:
        rows = await link.run(setting.schema.written("select version, checksum from {schema}.migrations").encode())
    except psycopg.errors.UndefinedColumn as error:
        raise SchemaMismatch(f"{where} has a table 'migrations' that is not Klokka's. Give another schema.") from error
    except psycopg.Error as error:
        raise translated(error, where, may_be_done=False) from error
    applied: dict[int, str] = dict(rows)
    if not applied and (ours := sorted(present & _TABLES)):
        raise unrecorded(where, ours[0], "the schema")
    todo = list(pending(applied, STEPS, where))
    if not todo and (missing := sorted(_TABLES - present)):
        raise SchemaMismatch(f"{where} is damaged: the table {missing[0]!r} is missing. Restore a backup.")
    return todo


async def _present(link: Link, schema: Schema) -> set[str]:
    return {name for (name,) in await link.run(_PRESENT, (schema.name,))}


def _record(step: Migration) -> str:
    return (
        "insert into {schema}.migrations (version, name, checksum, applied_at)\n"
        f"values ({step.version}, '{step.name}', '{step.checksum}', clock_timestamp())"
    )
