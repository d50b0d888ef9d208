"""A schema of any name, and the store's SQL written for it."""

import hashlib
import re
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache
from typing import Final

from klokka.core.names import check_key
from klokka.errors import InvalidName, LimitExceeded
from klokka.spi.wakeups import LONGEST_SLEEP
from klokka.stores._sql.statements import statement
from klokka.stores.postgres.composing import gated

_LONGEST: Final = 63
"""Bytes of an identifier; the server would silently cut a longer one."""

_PLACE: Final = re.compile(r"\{(schema|channel|ids|due|leased|sleep)\}")


@dataclass(frozen=True, slots=True)
class Schema:
    """The schema that the store's tables live in.

    Raises:
        InvalidName: it cannot be the name of a user's schema.
    """

    name: str

    def __post_init__(self) -> None:
        try:
            check_key("schema", self.name, _LONGEST)
        except LimitExceeded as error:
            raise InvalidName(
                f"schema {self.name!r} has more than {_LONGEST} bytes. PostgreSQL would cut it; choose a shorter name."
            ) from error
        if self.name.startswith("pg_") or self.name == "information_schema":
            raise InvalidName(f"schema {self.name!r} is the server's own. Choose another name.")

    @property
    def quoted(self) -> str:
        """The name as SQL has it, whatever characters it has."""
        return '"' + self.name.replace('"', '""') + '"'

    @property
    def channel(self) -> str:
        """The channel of this schema's wakeups, within the length that channels have."""
        return "klokka_" + hashlib.sha256(self.name.encode()).hexdigest()[:16]

    def written(self, text: str) -> str:
        """`text` with this schema's names in the places for them."""
        names = {
            "schema": self.quoted,
            "channel": f"'{self.channel}'",
            "ids": self._literal("jobs_id_seq"),
            "due": self._literal("jobs_due"),
            "leased": self._literal("jobs_leased"),
            "sleep": f"interval '{LONGEST_SLEEP // timedelta(seconds=1)} s'",
        }
        return _PLACE.sub(lambda place: names[place[1]], text)

    def _literal(self, name: str) -> str:
        return "'" + f"{self.quoted}.{name}".replace("'", "''") + "'"

    def sql(self, name: str) -> bytes:
        """The statement in `sql/<name>.sql`, for this schema."""
        return _statement(self, name)

    def gated(self, gate: str, name: str) -> bytes:
        """The statement `name`, in one with the statement `gate` and only where that gives a row."""
        return _gated(self, gate, name)


@lru_cache(maxsize=1024)
def _statement(schema: Schema, name: str) -> bytes:
    return schema.written(statement("klokka.stores.postgres", name)).encode()


@lru_cache(maxsize=256)
def _gated(schema: Schema, gate: str, name: str) -> bytes:
    return gated(schema.sql(gate).decode(), schema.sql(name).decode()).encode()
