"""Numbered migrations with checksums, and what a list of applied ones means [life.open]."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Final

from klokka.errors import SchemaMismatch

_FILE: Final = re.compile(r"(\d{4})_([a-z0-9_]+)\.sql")


@dataclass(frozen=True, slots=True, kw_only=True)
class Migration:
    """One step of a schema. `checksum` is of the text, so that an edited file is noticed."""

    version: int
    name: str
    text: str
    checksum: str


def migrations(package: str) -> tuple[Migration, ...]:
    """The migrations in `migrations/` of a store's package, by version: 1, 2, 3 and so on."""
    found: list[Migration] = []
    for file in files(package).joinpath("migrations").iterdir():
        if match := _FILE.fullmatch(file.name):
            text = file.read_text(encoding="utf-8")
            checksum = hashlib.sha256(text.encode()).hexdigest()
            found.append(Migration(version=int(match[1]), name=match[2], text=text, checksum=checksum))
    return tuple(sorted(found, key=lambda migration: migration.version))


def unrecorded(where: str, table: str, whole: str) -> SchemaMismatch:
    """The refusal of tables of ours beside a ledger without a row. Nobody knows what the steps would meet.

    `whole` is what may be dropped to begin anew.
    """
    return SchemaMismatch(
        f"{where} has Klokka's table {table!r} but records no version: it was half-applied or emptied. "
        f"Restore a backup; or drop {whole}, if nothing in it is needed, and run `klokka migrate`."
    )


def pending(applied: Mapping[int, str], known: Sequence[Migration], where: str) -> Sequence[Migration]:
    """Those of `known` that `applied`, checksums by version, lacks.

    Raises:
        SchemaMismatch: `where` is newer than this code, or was made by altered migrations.
    """
    newest = max(applied, default=0)
    if newest > len(known):
        raise SchemaMismatch(
            f"{where} has schema version {newest}, and this Klokka knows {len(known)}. "
            f"Upgrade Klokka on this machine to the version that the others run."
        )
    for migration in known:
        checksum = applied.get(migration.version, migration.checksum)
        if checksum != migration.checksum:
            raise SchemaMismatch(
                f"{where} was migrated to version {migration.version} by another text than this Klokka's "
                f"{migration.version:04d}_{migration.name}.sql (checksum {checksum[:12]}, here "
                f"{migration.checksum[:12]}). Run the Klokka that migrated it, or restore a backup."
            )
    return [migration for migration in known if migration.version not in applied]
