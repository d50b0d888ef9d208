"""Opening a store that may be away for a while."""

import asyncio

from klokka.errors import StoreUnavailable
from klokka.runtime.outages import Outage
from klokka.spi.store import JobStore


async def opened(store: JobStore, stop: asyncio.Event) -> bool:
    """Whether `store` is open, after any outage; False where `stop` came first.

    Raises:
        StoreError: it cannot be opened, for another reason than an outage.
    """
    opening = asyncio.create_task(_open(store))
    stopping = asyncio.create_task(stop.wait())
    try:
        await asyncio.wait([opening, stopping], return_when=asyncio.FIRST_COMPLETED)
        if opening.done():
            opening.result()
        return not stop.is_set()
    finally:
        opening.cancel()
        stopping.cancel()
        await asyncio.gather(opening, stopping, return_exceptions=True)


async def _open(store: JobStore) -> None:
    outage = Outage("opening the store")
    while True:
        try:
            await store.open()
        except StoreUnavailable as error:
            await asyncio.sleep(outage.failed(error))
        else:
            outage.over()
            return
