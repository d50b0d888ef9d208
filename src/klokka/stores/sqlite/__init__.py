"""The store in one SQLite file, by the standard library alone."""

from klokka.stores.sqlite.durability import Durability
from klokka.stores.sqlite.store import SqliteStore

__all__ = ["Durability", "SqliteStore"]
