"""Running the async part of a command on the store that it works on."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from klokka.cli.source import source
from klokka.errors import StoreUnavailable
from klokka.spi.life import MigratableStore
from klokka.spi.store import JobStore

T = TypeVar("T")


def run(verb: Callable[[JobStore], Awaitable[T]]) -> T:
    """What `verb` gives on the open store of `source`.

    A store without our tables is refused and left as it is, so that a mistyped name of a file makes no file.

    Raises:
        StoreError: or one of its kinds: the store cannot be used, or holds no Klokka database.
    """

    async def on_open_store(store: JobStore) -> T:
        if isinstance(store, MigratableStore) and (await store.schema()).current == 0:
            raise StoreUnavailable(
                f"there is no Klokka database at {_place(store)}. Check the name; `klokka migrate` makes one."
            )
        await store.open()
        return await verb(store)

    return run_unopened(on_open_store)


def _place(store: JobStore) -> str:
    """Where `store` has its data: an app's name alone does not say it."""
    from klokka.stores.sqlite.store import SqliteStore

    found = source()
    if found.store_url is not None:
        return found.spelled
    return (
        f"{store.path}, the store of {found.spelled}"
        if isinstance(store, SqliteStore)
        else f"the store of {found.spelled}"
    )


def run_unopened(verb: Callable[[JobStore], Awaitable[T]]) -> T:
    """What `verb` gives on the store of `source`, which it may open; the one place where commands enter asyncio."""
    return asyncio.run(_closing(source().store(), verb))


async def _closing(store: JobStore, verb: Callable[[JobStore], Awaitable[T]]) -> T:
    try:
        return await verb(store)
    finally:
        await store.close()
