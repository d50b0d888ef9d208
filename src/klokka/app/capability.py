"""Asking a store for what it may lack."""

from typing import Final, TypeVar

from klokka.errors import UnsupportedByStore
from klokka.spi.store import JobStore

C = TypeVar("C")


DO_WITHOUT: Final = "Choose another store, or do without."


def capable(store: JobStore, capability: type[C], what: str, instead: str = DO_WITHOUT) -> C:
    """`store` as the capability that `what` needs; `instead` says what to do where it lacks it.

    Raises:
        UnsupportedByStore: the store is valid and lacks it.
    """
    if isinstance(store, capability):
        return store
    raise UnsupportedByStore(
        f"{what} needs a store with the capability {capability.__name__}, which {store.traits.name!r} lacks. {instead}"
    )
