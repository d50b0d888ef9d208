"""The subscriptions of one open handle, which end with it."""

from collections.abc import AsyncGenerator
from typing import Final

from klokka.stores._sql.statements import statement
from klokka.stores.sqlite.ear import Ear
from klokka.stores.sqlite.lane import Lane
from klokka.stores.sqlite.transaction import Transaction

_SEQUENCE: Final = statement("klokka.stores.sqlite", "sequence")
_DATA_VERSION: Final = statement("klokka.stores.sqlite", "data_version")


class Subscriptions:
    """Gives hints until the handle closes."""

    def __init__(self, path: str, reader: Lane) -> None:
        self._path = path
        self._reader = reader
        self._ears: set[Ear] = set()

    async def hints(self) -> AsyncGenerator[None]:
        """The first as soon as the subscription is in place, the others as they come [wakeups.first]."""
        ear = Ear(self._path, self._look)
        self._ears.add(ear)
        try:
            await ear.open()
            yield
            while await ear.hear():
                yield
        finally:
            self._ears.discard(ear)
            ear.close()

    def close(self) -> None:
        """Ends every subscription; its generator returns, and releases what it holds by itself as well."""
        for ear in tuple(self._ears):
            ear.end()
            ear.close()

    async def _look(self, closely: bool) -> tuple[int, int]:
        return await self._reader.run(lambda tx: _standing(tx, closely))


def _standing(tx: Transaction, closely: bool) -> tuple[int, int]:
    return tx.value(_SEQUENCE), tx.value(_DATA_VERSION) if closely else 0
