"""Asking a store for what it may lack."""

from typing import TypeVar

from klokka.errors import UnsupportedByStore
from klokka.spi.store import JobStore

C = TypeVar("C")


def capable(store: JobStore, capability: type[C], what: str) -> C:
    """`store` as the capability that `what` needs.

    Raises:
        UnsupportedByStore: the store is valid and lacks it.
    """
    if isinstance(store, capability):
        return store
    raise UnsupportedByStore(
        f"{what} needs a store with the capability {capability.__name__}, which {store.traits.name!r} lacks. "
        "Choose another store, or do without."
    )
